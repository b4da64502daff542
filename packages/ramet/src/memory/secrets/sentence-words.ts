/** Words that join a name to its value in a sentence: English, German, French, Spanish, Italian, Portuguese, Dutch, Swedish. */

const of = (...lists: readonly string[]): string => lists.join(' ').split(' ').join('|');

/** `the password FOR staging`; some stand for an article too. */
export const PREPOSITIONS: string = of(
  'of for on in at to',
  'f\u00fcr fur fuer des der vom von zum zur auf im am an bei unter',
  'du de pour sur au aux chez',
  'del para en al',
  'della dello dei di per su sul sulla nel nella',
  'do da dos das no na em',
  'van voor op bij naar',
  'f\u00f6r p\u00e5 pa av till hos',
);

/** What is said so is so; with accents of its own where it would be another word without (`\u00e8`, `e`). */
export const VERBS: string = of(
  'is was are were be becomes? became equals stays remains reads',
  'ist lautet war wird hei\u00dft heisst bleibt',
  "est c['\u2019]est \u00e9tait etait devient sera vaut",
  'es era ser\u00e1',
  "\u00e8 e['\u2019] sar\u00e0",
  '\u00e9 fica',
  'wordt luidt blijft',
  '\u00e4r ar var blir lyder',
);

export const ADVERBS: string = of(
  'now still currently again always just simply',
  'jetzt nun noch immer aktuell',
  'maintenant toujours encore',
  'ahora todav\u00eda todavia',
  'adesso ora ancora',
  'agora ainda',
  'nu nog nog',
  'fortfarande',
);

/** Before or behind a value that changes: `from X to Y`. */
export const FROM: string = of('from von vom de da van fr\u00e5n fran');
export const TO: string = of('to auf zu \u00e0 en a para naar op till');

/** `X is the password`, `X as the password`. */
export const BINDERS: string = of(
  'is was as becomes became for',
  'ist war als f\u00fcr fur fuer',
  'est comme pour',
  'es como para',
  '\u00e8 come per',
  '\u00e9',
  'voor',
  '\u00e4r ar som f\u00f6r',
);
export const ARTICLES: string = of(
  'the a our my your its their her his',
  'das die der dem den des ein mein unser',
  'le la un mon ma notre',
  'el los mi su una',
  'il lo mia nostra',
  'o os minha',
  'het een mijn ons',
  'mitt v\u00e5rt',
);
