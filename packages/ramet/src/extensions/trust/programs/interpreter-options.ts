/** Options of interpreters that load nothing by themselves. The files that others name are looked for like any word. */
import { FLAGS, isInline } from './known-programs.ts';

const SHELL =
  '[-+][abefhiklmnpstuvxBCEHPTcoOrD]+|--|--(?:norc|noprofile|posix|login|verbose|restricted|rcfile|init-file)';
const NODE =
  '-[ecpirC]+|-r.+|--|--(?:eval|print|check|require|import|test(?:-[\\w-]+)?|run|no-[\\w-]+|enable-source-maps|max-[\\w-]+|trace-[\\w-]+|stack-[\\w-]+|unhandled-rejections|input-type|conditions|watch(?:-[\\w-]+)?|throw-deprecation|inspect(?:-[\\w-]+)?|expose[-_]gc|experimental-(?!.*(?:loader|config))[\\w-]+)';
const KNOWN: readonly (readonly [program: RegExp, options: RegExp])[] = [
  [/^(?:ba|da|z|k|a)?sh$/, whole(SHELL)],
  [/^node(?:js)?$/, whole(NODE)],
  [/^(?:python|pypy)[\d.]*$/, whole('-[bBdEhiIOPqRsSuvVx?]*(?:[cmW].*|X(?!.*presite).*)?|--')],
  [/^perl$/, whole('-[acilnpstuvwxSTUW0-7]*(?:[eEFIMm0].*|i.*)?|--')],
  [
    /^ruby$/,
    whole('-[acdlnpsvwyS]*(?:[eCEFIiKrTWx0].*)?|--|--(?:enable|disable|yjit|jit|verbose)(?:-[\\w-]+)?'),
  ],
  [/^php$/, whole('-[aBinqsw]*(?:[BdEFrR].*|f.*)?|--')],
  [/^lua[\d.]*$|^luajit$/, whole('-[iEvW]*(?:[el].*)?|-|--')],
  [/^[gm]?awk$/, whole('-[eFfiv].*|--|--(?:file|include|source|assign|field-separator|posix|re-interval)')],
  [/^(?:eval|source|\.)$/, /^/],
];

function whole(options: string): RegExp {
  return new RegExp(`^(?:${options}|-[vVh]|--(?:version|help))(?:=.*)?$`, 's');
}

/** It may load more than its words name. */
export function hasUnknownOption(program: string, texts: readonly string[]): boolean {
  const [, known = NONE] = KNOWN.find(([name]) => name.test(program)) ?? [];
  const end = texts.findIndex((text, at) => !/^[-+]./.test(text) && !isValue(program, texts[at - 1]));
  const own = texts.slice(0, end === -1 ? undefined : end);
  return own.some((text) => (/^[-+]./.test(text) ? !known.test(text) : MODULE.test(text)));
}

/** Behind `-X`. */
const MODULE = /^presite=/;

function isValue(program: string, before = ''): boolean {
  return /^[-+]./.test(before) && !FLAGS.test(before) && !isInline(program, before);
}

const NONE = whole('-[ef].*|-');
