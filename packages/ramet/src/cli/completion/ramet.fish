# Completion of ramet for fish:  ramet completion fish > ~/.config/fish/completions/ramet.fish
function __ramet_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -e before[1]
    for line in (COMMAND_TO_ASK complete -- $before "$current" 2>/dev/null)
        if test "$line" = ':files'
            __fish_complete_path "$current"
        else
            echo -- $line
        end
    end
end
complete -c ramet -f -a '(__ramet_complete)'
