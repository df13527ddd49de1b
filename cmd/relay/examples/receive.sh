#!/bin/sh
# receive.sh NAME COMMAND [ARG...]: runs COMMAND for each message to NAME, in order, with the message
# as one line of JSON on its standard input. It keeps in a file how far it came. When COMMAND fails
# it ends, and begins with the same message the next time: COMMAND sees each at least once.
name=${1:?whose messages} && shift
file=${RECEIVE_CURSOR:-$HOME/.local/state/receive-$name}
mkdir -p "$(dirname "$file")" || exit 1
cursor=$(cat "$file" 2>/dev/null || echo 0)
while :; do
  if ! batch=$(relay recv --as "$name" --after "$cursor" --last 20 --wait --json); then
    case $batch in
    *'"code":"cursor_gone"'*)
      echo "receive: $batch; beginning anew" >&2
      cursor=0 && continue ;;
    esac
    exit 1
  fi
  while IFS= read -r line; do
    case $line in
    '{"older":'*) echo "receive: left out for being old: $line" >&2 && continue ;;
    esac
    printf '%s\n' "$line" | "$@" || exit 1
    cursor=$(printf '%s\n' "$line" | sed 's/.*"seq":\([0-9]*\).*/\1/')
    printf '%s\n' "$cursor" >"$file.new" && mv "$file.new" "$file" || exit 1
  done <<END
$batch
END
done
