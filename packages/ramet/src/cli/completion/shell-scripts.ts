/**
 * The few lines that teach a shell to ask `ramet complete`. They hold no commands or flags, so a script that was
 * installed once stays right. `complete` answers a line per suggestion, `text<TAB>description`, and `:files`
 * where file names are wanted.
 */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

export const FILES_MARK = ':files';

const BASH = `# Completion of ramet for bash. In ~/.bashrc:  source <(ramet completion bash)
_ramet() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == ${FILES_MARK} ]]; then
      compopt -o default 2>/dev/null
    else
      COMPREPLY+=("\${line%%$'\\t'*}")
    fi
  done < <("\${COMP_WORDS[0]/#\\~/$HOME}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _ramet ramet
`;

const ZSH = `#compdef ramet
# Completion of ramet for zsh. In ~/.zshrc, after compinit:  source <(ramet completion zsh)
_ramet() {
  local line
  local -a found
  while IFS= read -r line; do
    if [[ $line == ${FILES_MARK} ]]; then
      _files
    else
      found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    fi
  done < <("\${words[1]/#\\~/$HOME}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#found} )) && _describe ramet found
}
if [[ \${funcstack[1]} == _ramet ]]; then _ramet "$@"; else compdef _ramet ramet; fi
`;

const FISH = `# Completion of ramet for fish:  ramet completion fish > ~/.config/fish/completions/ramet.fish
function __ramet_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -e before[1]
    for line in (ramet complete -- $before "$current" 2>/dev/null)
        if test "$line" = '${FILES_MARK}'
            __fish_complete_path "$current"
        else
            echo -- $line
        end
    end
end
complete -c ramet -f -a '(__ramet_complete)'
`;

export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
