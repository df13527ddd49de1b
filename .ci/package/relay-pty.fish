# What can be filled in of relay-pty's command line. Behind -- stands another command.
function __relay_pty_own
    not contains -- -- (commandline -opc)
end
complete -c relay-pty -n 'not __relay_pty_own' -x -a '(__fish_complete_subcommand --fcs-skip=(math 1 + (contains -i -- -- (commandline -opc))))'
complete -c relay-pty -n __relay_pty_own -f
for flag in 'name|who the agent is' 'prompt-pattern|the line up to the cursor that means ready' \
        'idle-timeout|silence that means ready if nothing better does' 'queue-max|most messages waiting' \
        'queue-high|so many say that no more are wanted' 'queue-low|so many say that more are' \
        'draft-timeout|a draft left alone so long may be set aside' 'batch-max|most messages typed as one turn' \
        'size|of the terminal without one'
    set -l part (string split '|' $flag)
    complete -c relay-pty -n __relay_pty_own -x -l $part[1] -d $part[2]
end
for flag in 'allow-command|take messages of kind command' 'json-output|relay_command events on stderr' \
        'headless|no terminal: no input, output dropped' 'ephemeral|no journal' \
        'check-profile|does the profile still hold?' 'agents|list the profiles' 'version|print the version' 'help|print help'
    set -l part (string split '|' $flag)
    complete -c relay-pty -n __relay_pty_own -f -l $part[1] -d $part[2]
end
complete -c relay-pty -n __relay_pty_own -r -F -l socket -d 'injection socket'
complete -c relay-pty -n __relay_pty_own -r -F -l log-file -d 'JSON log'
complete -c relay-pty -n __relay_pty_own -x -l state-dir -d 'journal of what was accepted' -a '(__fish_complete_directories)'
complete -c relay-pty -n __relay_pty_own -r -F -l agent -d profile -a '(relay-pty --agents 2>/dev/null | string replace -r " +" \t)'
complete -c relay-pty -n __relay_pty_own -x -l markers -d 'where markers are read from' -a 'auto log stream off'
complete -c relay-pty -n __relay_pty_own -x -l notice -d 'a sign that messages wait for you' -a 'off title bell osc9'
complete -c relay-pty -n __relay_pty_own -x -l log-level -d 'how much of it' -a 'debug info warn error'
