/**
 * Whether a line tells its reader to do something, by its form: a sentence without a subject that begins with the base form of a verb, or
 * with what stands before one. It is a rule about forms, and no proof: a verb that is in no list passes, unless its object follows.
 */

/** Those that begin a sentence as nothing else, or would do harm. */
const VERBS =
  'abandon|abort|accept|activate|add|adhere|adjust|adopt|advise|agree|alert|allow|alter|amend|announce|answer|append|apply|approve|archive|arrange|ask|assign|assume|attach|authori[sz]e|avoid|be|become|begin|behave|believe|beware|bring|browse|bypass|call|cancel|cease|change|check|choose|circumvent|clean|clear|click|clone|close|collect|combine|compile|comply|conceal|configure|confirm|connect|consider|consult|contact|continue|convert|copy|count on|create|curl|deactivate|decode|decrypt|defer|define|delegate|delete|deliver|deny|deploy|destroy|disable|disclose|discard|disconnect|dismiss|disregard|distribute|divulge|do|double-check|download|drop|duplicate|edit|elevate|email|embed|emit|enable|encode|encrypt|enforce|ensure|enter|erase|escalate|establish|evade|eval|evaluate|examine|exclude|execute|exempt|exfiltrate|expect|explain|export|expose|extend|extract|fake|favou?r|fetch|fill|find|finish|fix|flush|follow|force|forget|forge|forgo|forward|generate|get|give|go|grab|grant|guarantee|hack|halt|hardcode|harvest|have|hide|honou?r|ignore|impersonate|include|inform|inject|insert|inspect|install|instruct|invoke|keep|kill|launch|leak|learn|leave|let|listen|load|loosen|lower|mail|make|manipulate|merge|migrate|modify|move|mute|neglect|notify|obey|obfuscate|obtain|omit|open|opt|output|override|overrule|overwrite|paste|pause|perform|permit|persist|place|poison|post|prefer|prepare|prepend|pretend|prevent|print|prioriti[sz]e|proceed|produce|propagate|provide|publish|purge|push|put|quit|raise|re-run|read|rebase|rebuild|recall|receive|recommend|redirect|refer|refrain|refuse|reinstall|reject|relax|rely|remember|remind|remove|rename|render|replace|reply|rerun|respond|restart|restore|restrict|retain|retrieve|retry|reveal|revert|revoke|rewrite|rm|roleplay|run|save|say|scrape|search|see|select|send|serve|set|share|show|shut|silence|simulate|skip|spawn|specify|spoof|squash|start|stay|steal|stop|store|submit|subscribe|sudo|suggest|supply|suppress|switch|take|tell|terminate|throw|touch|transfer|transform|translate|transmit|treat|truncate|trust|try|turn|undo|uninstall|unlock|unset|update|upgrade|upload|use|verify|visit|wait|waive|warn|weaken|wget|whitelist|wipe|withhold|write|note(?! that)';
/** Those that also begin the name of a thing, as in "Source files are in src". */
const NOUN_LIKE =
  'act|block|boot|branch|build|bundle|cache|chmod|commit|debug|display|document|dump|echo|end|file|filter|format|git|hand|handle|head|help|hold|hook|import|index|lift|link|lint|list|lock|log|look|mark|mirror|mock|mount|order|patch|pick|pin|ping|pipe|present|process|prompt|proxy|pull|query|record|relay|release|report|request|reset|return|review|rotate|sample|scan|ship|sign|source|ssh|stage|support|sync|tag|target|test|trace|track|trigger|type|view|watch|work|wrap|zip';
/** Words that no name of a thing has there. */
const FUNCTION_WORD =
  'the|an?|all|any|every|each|everything|everyone|anything|this|that|these|those|it|its|them|their|no|not|and|or|to|into|onto|in|on|at|as|by|for|from|with|up|off|out|over|through|via|whether|which|what|how|where|when|if|whatever|before|after';
/** "Source files are", "Test output is": what the sentence is about, and its verb. */
const THING = `(?:${NOUN_LIKE})(?:\\s+(?!(?:${FUNCTION_WORD})\\b)[\\w/.-]+){0,2}\\s+(?:is|are|was|were|has|have|had|lives?|lies|comes?|takes?|belongs?|exists?|contains?|follows?|runs?|uses?|needs|checks)\\b`;
/** "Frobnicate the hook": what a base form has an object after, and other words have not. */
const OTHER_WORD =
  'about|above|according|across|after|again|against|all|almost|along|already|also|although|always|amid|among|and|apart|around|as|at|atop|because|before|behind|below|beneath|besides?|between|beyond|both|but|by|can|contrary|could|despite|did|does|due|during|each|either|else|even|every|except|first|for|from|given|had|half|hence|here|how|however|if|in|inside|instead|into|it|last|later|like|many|may|maybe|might|minus|more|most|much|near|neither|never|next|no|nor|not|now|of|off|often|on|once|one|only|onto|or|otherwise|out|outside|over|past|per|perhaps|plus|quite|rather|same|she|since|so|some|soon|still|such|than|that|then|there|therefore|they|this|though|through|throughout|till|to|today|together|toward|twice|two|under|underneath|unless|unlike|until|up|upon|versus|via|we|what|when|whenever|where|whereas|wherever|whether|which|whichever|while|who|whom|whose|why|will|with|within|without|worth|would|yes|yet';
const TAKES_OBJECT = `(?!(?:${OTHER_WORD})\\b)(?!\\w*(?:ing|ed|ly|[^s]s)\\b)[a-z]{2,}\\s+(?:the|an?|all|any|every|each|everything|this|these|those|it|them)\\b`;
/** What a sentence begins with whose subject is its reader. */
const DUTY =
  "do\\s+not|don['\u2019\u02bc]?t|must(?:n['\u2019\u02bc]?t)?|need(?:n['\u2019\u02bc]?t|s)?|ought|has\\s+to|have\\s+to|shall|should(?:n['\u2019\u02bc]?t)?|cannot|can['\u2019\u02bc]?t|feel\\s+free|no\\s+(?:questions?|permissions?|approvals?|confirmations?)\\b(?=.*\\b(?:asked|needed|required|necessary|before|when)\\b)";
const SMALL_WORDS =
  '(?:(?:now|then|first|next|also|just|always|never|please|to all|agents?|assistant|system|\\w{2,}ly)\\b[,:]?\\s*)*';
const LEADS =
  '(?:after|as|at|before|by|during|each time|every time|following|for|from|if|in|instead of|on|once|prior to|rather than|to|unless|until|upon|when|whenever|while|with)\\b';
const ORDER = `${SMALL_WORDS}(?:(?:(?:${VERBS})|(?!${THING})(?:${NOUN_LIKE})|${DUTY})(?!-?\\w)|${TAKES_OBJECT})`;
const BEGINS_WITH_VERB = new RegExp(`^${ORDER}`, 'i');
/** "Before tests, run it." */
const LEADS_TO_VERB = new RegExp(`^${LEADS}[^,]{1,120},\\s*${ORDER}`, 'i');
/** Without a comma nobody can tell a verb from what follows a noun, as in "in CI tests run": only what does harm counts. */
const LEADS_TO_HARM = new RegExp(
  `^${LEADS}.{1,120}\\s(?:curl|delete|disable|execute|forward|grant|ignore|post|publish|push|reveal|rm|send|skip|sudo|upload|wget)\\s`,
  'i',
);
const IS_DUTY = new RegExp(
  `\\bit(?:'s| is| was)\\s+(?:\\w+\\s+){0,3}(?:advis\\w+|best|common|customary|essential|expected|good|important|mandatory|necessary|polite|recommended|required|usual|vital)\\b.{0,40}\\bto\\s+(?:${VERBS}|${NOUN_LIKE})\\b`,
  'i',
);
const ADDRESSES =
  /\b(?:you|your|yours|yourself)\b|\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instruction|rule|prompt|above|previous|earlier)|\bfrom now on\b|\bplease\b|\b(?:make|be) sure\b|\bremember to\b|\bfeel free to\b|\b(?:agents?|assistants?|models?|the ai|an ai|claude|ramet|readers?)\s+(?:must|should|shall|may|are to|is to|has to|have to|need|needs|will)\b/i;
const SENTENCE_END =
  /(?<=[.!?;:])\s+|\s[-\u2013\u2014]\s|\s*(?:[-=]>|[\u2190-\u21ff\u2794-\u27bf])\s*|[(["\u201c\u201e\u00ab]/;

/** A sentence in another language is not understood: it stays quoted. */
export function isInstruction(text: string): boolean {
  const sentences = text.split(SENTENCE_END).map((sentence) => sentence.replace(/^[^\p{L}\p{N}]+/u, ''));
  const kinds = [BEGINS_WITH_VERB, LEADS_TO_VERB, LEADS_TO_HARM];
  const isTold = sentences.some((sentence) => kinds.some((kind) => kind.test(sentence)));
  return isTold || ADDRESSES.test(text) || IS_DUTY.test(text);
}
