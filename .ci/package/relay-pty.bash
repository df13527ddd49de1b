# What can be filled in of relay-pty's command line; flags are those of its help.
_relay_pty() {
  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD - 1]}" i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [ "${COMP_WORDS[i]}" = -- ]; then # behind it stands another command
      if declare -F _command_offset >/dev/null; then _command_offset $((i + 1)); return; fi
      if ((i + 1 == COMP_CWORD)); then mapfile -t COMPREPLY < <(compgen -c -- "$cur"); return; fi
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
    fi
  done
  case "$prev" in
    --agent | --check-profile)
      mapfile -t COMPREPLY < <(compgen -W "$(relay-pty --agents 2>/dev/null | cut -d' ' -f1)" -- "$cur"; compgen -f -X '!*.json' -- "$cur")
      ;;
    --markers) mapfile -t COMPREPLY < <(compgen -W 'auto log stream off' -- "$cur") ;;
    --notice) mapfile -t COMPREPLY < <(compgen -W 'off title bell osc9' -- "$cur") ;;
    --log-level) mapfile -t COMPREPLY < <(compgen -W 'debug info warn error' -- "$cur") ;;
    --socket | --log-file) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    --state-dir) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
    --name | --prompt-pattern | --idle-timeout | --queue-max | --queue-high | --queue-low | --draft-timeout | --batch-max | --size) ;;
    *) mapfile -t COMPREPLY < <(compgen -W "-- $(relay-pty --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]+' | sort -u)" -- "$cur") ;;
  esac
}
complete -o filenames -F _relay_pty relay-pty
