/** A secret in a text, for those who look for one: the rule that saw it and where it begins. Never the secret. */
export interface SecretPlace {
  rule: string;
  /** Index in the text. */
  at: number;
}
