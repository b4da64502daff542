# Completion of ramet for bash. In ~/.bashrc:  source <(ramet completion bash)
_ramet() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o default 2>/dev/null
    else
      COMPREPLY+=("${line%%$'\t'*}")
    fi
  done < <(COMMAND_TO_ASK complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _ramet ramet
