# Part of ./lukko: starts the Java that holds the lock of `lukko run`, and calls the shell that runs
# COMMAND (run.sh) when it has ended. It gets what is sent to the process group, and answers which
# signals those were when it is called by URG.
#
# Descriptors: 3 what the shell says to Java, 7 the answers, 8 what Java says. Words: Java's command line.
set -u
. "${0%/*}/surroundings.sh"

lukko_shell=$PPID
lukko_seen=
lukko_died=

lukko_note() {
  lukko_interrupted=yes
  lukko_seen="$lukko_seen $1"
}

lukko_answer() {
  lukko_interrupted=yes
  [ -z "$lukko_died" ] || return 0
  lukko_answered=$lukko_seen
  lukko_seen=
  printf 'seen%s\n' "$lukko_answered" >&7
}

for lukko_signal in $lukko_signals; do
  trap "lukko_note $lukko_signal" "$lukko_signal" 2>/dev/null
done
trap lukko_answer URG
# From now on it may be asked.
kill -s URG "$lukko_shell"

(
  # Java takes orders from the shell alone.
  for lukko_signal in $lukko_signals URG TSTP TTIN TTOU; do
    trap '' "$lukko_signal" 2>/dev/null
  done
  # By this one Java stops its own threads, and does not survive it from elsewhere; USR2 otherwise.
  if [ -e /proc/self/stat ]; then
    _JAVA_SR_SIGNUM=16
    export _JAVA_SR_SIGNUM
  fi
  exec "$@" <&3 >&8 3<&- 7>&- 8>&-
) &
lukko_java=$!
exec 3<&-
while :; do
  lukko_interrupted=
  wait "$lukko_java" 2>/dev/null
  lukko_code=$?
  [ -n "$lukko_interrupted" ] || break
done
lukko_died=$lukko_code
if [ "$lukko_code" -eq 0 ]; then
  printf 'died 0\n' >&7
  exit 0
fi
# Otherwise Java has not said how it ended.
printf 'no\nend 70\n' >&8
printf 'died %s\n' "$lukko_code" >&7
kill -s URG "$lukko_shell" 2>/dev/null || exit 0
for lukko_second in 1 2 3 4 5; do
  sleep 1
  kill -0 "$lukko_shell" 2>/dev/null || exit 0
done
kill -s URG "$lukko_shell" 2>/dev/null
