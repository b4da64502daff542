#compdef ramet
# Completion of ramet for zsh. In ~/.zshrc, after compinit:  source <(ramet completion zsh)
_ramet() {
  local line
  local -a found
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      _files
    else
      found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    fi
  done < <(COMMAND_TO_ASK complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
  (( ${#found} )) && _describe ramet found
}
if [[ ${funcstack[1]} == _ramet ]]; then _ramet "$@"; else compdef _ramet ramet; fi
