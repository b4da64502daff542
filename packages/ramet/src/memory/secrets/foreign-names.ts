/**
 * Names of credentials in German, French, Spanish, Italian, Portuguese, Dutch and Swedish, as the English words that mean the same.
 * `credential-name.ts` judges those, so that each rule is there once. Words are compared without accents.
 */

/** A part that each such name has; some have one of English too (`Passwort`, `token di accesso`). */
export const FOREIGN_HITS =
  'kennw|mdp|contrase[n\u00f1]|senha|wachtwoord|wachtzin|l[o\u00f6]senord|l[o\u00f6]senfras|losung|schl(?:\u00fc|ue?)ssel|sleutel|nyckel|geheim|hemlig|segret[oi]|segred|zugangsdaten|anmeldedaten|identifiants?|credenc|credenz|inlogg|jeton|(?<![a-z])cl(?:[e\u00e9]f?|ave|\u00e9s)(?![a-z])|chiave|chave(?![a-z])|c[o\u00f3]digo|codice|kod(?:en)?(?![a-z])|(?<![a-z])(?:phrase|frase|parola)(?![a-z])';

const words = (table: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(table).flatMap(([english, all]) => all.split(' ').map((one) => [one, english])));

/** What a name is of, also glued before a stem: `Zugangscode`. */
const OWNERS = words({
  access: 'acces acceso accesso acesso zugang zugriff toegang atkomst',
  admin: 'administrator beheerder administrador',
  alarm: 'alarme alarma allarme larm',
  door: 'port porte puerta porta tur tuer haus haustur deur dorr portail portone',
  encryption:
    'chiffrement cifrado cifratura criptografia verschlusselung verschluesselung versleuteling kryptering',
  entry: 'entree entrada entrata eingang',
  license: 'licence licencia licenza licenca lizenz licentie licens',
  master: 'maitre maitresse maestra mestra haupt hoofd huvud',
  private: 'privee privada privata privat privater privaten prive',
  recovery: 'recuperation recuperacion recupero recuperacao wiederherstellung herstel',
  secret: 'secrete secreta segreta geheim geheime geheimer geheimen hemlig hemliga',
  security: 'securite seguridad sicurezza seguranca sicherheit beveiliging sakerhet',
  unlock: 'deverrouillage desbloqueo desbloqueio sblocco entsperr freischalt ontgrendel',
  wifi: 'wi-fi wlan',
});

const NAMES = words({
  password: 'mdp losung senha senhas contrasena contrasenas motdepasse',
  passphrase: 'wachtzin losenfras',
  key: 'cle clef cles clave claves chiave chiavi chave chaves',
  code: 'codigo codice kod koden',
  token: 'jeton jetons',
  pin: 'pincode pinkod pinkoden',
  secret: 'geheimnis geheim secreto segreto segredo hemlighet',
  credentials:
    'zugangsdaten anmeldedaten identifiant identifiants credenciales credenziali credenciais inloggegevens inloggningsuppgifter',
});

/** German, Dutch and Swedish put the words of a name together, and bend the last one. */
const STEMS = words({
  password: 'passwort passwoert kennwort kennwoert losungswort wachtwoord losenord',
  key: 'schlussel schluessel sleutel nyckel',
  code: 'code kod',
});
const COMPOUND = new RegExp(
  `^([a-z]{0,24}?)(${[...STEMS.keys()].join('|')})(?:e?s|er|ern|en|ens|et|ets|n|ns|e)?$`,
);

/** French, Spanish, Italian and Portuguese say behind the name what it is of: `code d'acc\u00e8s`, `clave de API`. */
const HEADS = new Set(
  'cle cl\u00e9 clef clave chiave chave code codigo c\u00f3digo codice jeton token phrase frase parola'.split(
    ' ',
  ),
);
const OF = "(?:(?:de|del|du|des|di|do|da|della|d|la|le|el|l|dell)['\u2019 \\t]{1,2}){0,2}";
const OWNER_BEHIND = new RegExp(`[ \\t]{1,2}${OF}(\\p{L}[\\p{L}-]{1,19})(?![\\p{L}\\p{N}])`, 'yu');
const PHRASES = new Set(['passe', 'ordine', 'contrasena', 'secrete', 'secreta', 'segreta', 'seguridad']);

export interface OwnedName {
  readonly words: readonly string[];
  readonly end: number;
}

/** A name with what follows it, in English words; null if nothing of that follows. */
export function ownedName(text: string, name: string, end: number): OwnedName | null {
  if (!HEADS.has(name.toLowerCase())) return null;
  const head = withoutAccents(name);
  OWNER_BEHIND.lastIndex = end;
  const found = OWNER_BEHIND.exec(text);
  const behind = withoutAccents(found?.[1] ?? '');
  if (found === null) return null;
  const past = end + found[0].length;
  if (/^(?:phrase|frase|parola)$/.test(head))
    return PHRASES.has(behind) ? { words: ['passphrase'], end: past } : null;
  const owner = OWNERS.get(behind) ?? (/^(?:api|pin|secret|wifi|wpa)$/.test(behind) ? behind : null);
  return owner === null ? null : { words: [owner, NAMES.get(head) ?? head], end: past };
}

/** The English words for the last two of a name; null if it has another meaning, or is English. */
export function inEnglish(last: string, before: string): readonly [owner: string, word: string] | null {
  const word = withoutAccents(last);
  const known = NAMES.get(word);
  if (known !== undefined) return [ownerOf(before), known];
  const [, glued = '', stem = ''] = COMPOUND.exec(word) ?? [];
  const meaning = STEMS.get(stem);
  if (meaning === undefined) return null;
  return [ownerOf(glued === '' ? before : glued), meaning];
}

function ownerOf(word: string): string {
  const owner = withoutAccents(word);
  return OWNERS.get(owner) ?? OWNERS.get(owner.replace(/s$/, '')) ?? owner;
}

function withoutAccents(word: string): string {
  const small = word.toLowerCase();
  return /^[a-z]*$/.test(small) ? small : small.normalize('NFKD').replace(/\p{M}+/gu, '');
}
