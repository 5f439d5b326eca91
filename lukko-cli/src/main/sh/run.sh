# Part of ./lukko: `lukko run`. Three processes hang together:
#
#   this shell    keeps the caller's process id, waits for COMMAND, passes signals on to it
#   COMMAND       a child of this shell; before the lock is granted a copy of it, which waits
#   keep.sh       below this shell; starts Java, which holds the lock, and tells if Java dies
#
# So COMMAND gets its words, variables and descriptors from a shell, untouched, and what the process
# group is sent (or a terminal sends it) reaches it by itself.
#
# Java reads what this shell says (`exited N`), and takes the end of that for the shell's death. Java says
# `go TOKEN RESOURCE_AT COMMAND_AT` or `no`, which COMMAND's process reads, then `out LINE`s for
# standard output, then `end CODE`. Before `go` it says `env OCTAL` for each variable that a shell loses, as
# its name is none for a shell.

# A folder with three pipes. It goes as soon as everybody has opened them.
lukko_make_pipes() {
  for lukko_place in "${TMPDIR:-/tmp}" /tmp "${XDG_RUNTIME_DIR:-/tmp}" /dev/shm /var/tmp "$lukko_target"; do
    lukko_pipes=$(mktemp -d "$lukko_place/lukko.XXXXXXXX" 2>/dev/null) || continue
    mkfifo -m 600 "$lukko_pipes/java" "$lukko_pipes/shell" "$lukko_pipes/keeper" 2>/dev/null && return
    rm -rf "$lukko_pipes"
  done
  lukko_die "found no folder for three pipes: not TMPDIR (${TMPDIR:-unset}), /tmp, /dev/shm nor /var/tmp"
}

# A shell lets what it starts in the background ignore INT and QUIT. Some take that back on request;
# for others GNU env or Perl can. lukko_ours says which of the two were not ignored from the start.
lukko_look_at_signals() {
  lukko_way=
  lukko_ours=
  # Of another program: some shells ignore QUIT themselves.
  lukko_mask=$(grep '^SigIgn:' /proc/self/status)
  case $lukko_mask in
    '') # A signal that is blocked is taken for one that is ignored.
      lukko_ours=$(sh -c 'trap "caught=\" INT\"" INT; trap "caught=\"\${caught:-} QUIT\"" QUIT
        kill -s INT $$; kill -s QUIT $$; printf %s "${caught:-}"')
      ;;
    *[014589cd]) lukko_ours=' INT' ;;
  esac
  case $lukko_mask in
    *[012389ab]) lukko_ours="$lukko_ours QUIT" ;;
  esac
  for lukko_way in trap env perl; do
    [ -n "$lukko_ours" ] || return 0
    lukko_signal=${lukko_ours# }
    (ulimit -c 0 && lukko_defaults sh -c "kill -s ${lukko_signal%% *} \$\$") >/dev/null 2>&1 &
    wait $! 2>/dev/null
    [ $? -le 128 ] || return 0
  done
  lukko_way=none
} 2>/dev/null

# Becomes a program with INT and QUIT as they were before this shell. In a background process.
lukko_defaults() {
  [ -n "$lukko_ours" ] || exec "$@"
  case $lukko_way in
    trap)
      # shellcheck disable=SC2086 # one or two names
      trap - $lukko_ours
      exec "$@"
      ;;
    env)
      lukko_list=${lukko_ours# }
      case $1 in
        # env would take it for a variable.
        *=*) exec env --default-signal="${lukko_list% *},${lukko_list#* }" sh -c 'exec "$@"' sh "$@" ;;
        *) exec env --default-signal="${lukko_list% *},${lukko_list#* }" -- "$@" ;;
      esac
      ;;
    perl)
      # Perl would complain of a locale that the machine does not have.
      if [ -n "${PERL_BADLANG+set}" ]; then
        exec perl -e '$SIG{$_} = "DEFAULT" for split " ", shift; exec { $ARGV[0] } @ARGV' "$lukko_ours" "$@"
      fi
      exec env PERL_BADLANG=0 perl -e 'delete $ENV{PERL_BADLANG};
        $SIG{$_} = "DEFAULT" for split " ", shift; exec { $ARGV[0] } @ARGV' "$lukko_ours" "$@"
      ;;
    *) exec "$@" ;;
  esac
}

# The process of COMMAND. It has all that the caller gave, and waits for Java's word.
lukko_become_command() {
  lukko_odd=
  # Opening the first pipe waits until the parent has opened all of them.
  {
    rm -rf "$lukko_pipes"
    lukko_line=
    while IFS= read -r lukko_line; do
      case $lukko_line in
        'env '*) lukko_odd="$lukko_odd ${lukko_line#env }" ;;
        'go '*)
          printf 'started\n'
          break
          ;;
        no) break ;;
        *) printf 'lukko: %s\n' "$lukko_line" >&2 ;;
      esac
    done
  } <"$lukko_pipes/shell" >"$lukko_pipes/keeper"
  case $lukko_line in
    'go '*) ;;
    *) exit 0 ;;
  esac
  lukko_rest=${lukko_line#go }
  LUKKO_FENCING_TOKEN=${lukko_rest%% *}
  lukko_rest=${lukko_rest#* }
  lukko_at=${lukko_rest% *}
  eval "LUKKO_RESOURCE=\${$lukko_at}"
  export LUKKO_FENCING_TOKEN LUKKO_RESOURCE
  shift $((${lukko_rest#* } - 1))
  lukko_check "$1"
  if [ -n "$lukko_input" ]; then
    eval "exec <&$lukko_spare $lukko_spare<&-"
  else
    exec <&-
  fi
  if [ -n "$lukko_odd" ]; then
    case $1 in
      # env would take it for a variable.
      *=*) set -- sh -c 'exec "$@"' sh "$@" ;;
    esac
    for lukko_variable in $lukko_odd; do
      lukko_variable=$(printf '%b.' "$lukko_variable")
      set -- "${lukko_variable%.}" "$@"
    done
    set -- env -- "$@"
  fi
  lukko_defaults "$@"
}

# Says what a shell would say in words of its own.
lukko_check() {
  case $1 in
    */*)
      [ -e "$1" ] || [ -L "$1" ] || lukko_cannot "$1" "not found" 127
      { [ -f "$1" ] && [ -x "$1" ]; } || [ ! -e "$1" ] || lukko_cannot "$1" "not an executable file" 126
      ;;
    '') lukko_cannot "$1" "not found" 127 ;;
    -*) ;;
    *) command -v "$1" >/dev/null 2>&1 || lukko_cannot "$1" "not found" 127 ;;
  esac
}

lukko_cannot() {
  lukko_say "cannot run '$1' under lock '$LUKKO_RESOURCE': $2"
  exit "$3"
}

# A descriptor that the caller does not use: a background process gets its standard input through it.
lukko_find_spare() {
  for lukko_spare in 3 4 5 6 7 8 9; do
    (eval ": <&$lukko_spare") 2>/dev/null || (eval ": >&$lukko_spare") 2>/dev/null || return 0
  done
  lukko_die "the descriptors 3 to 9 are all in use; it needs one of them"
}

# The process group of a process; empty if it cannot be told.
lukko_group_of() {
  if read -r lukko_stat <"/proc/$1/stat"; then
    lukko_stat=${lukko_stat##*) }
    # shellcheck disable=SC2086 # fields
    set -- $lukko_stat
    lukko_group=${3:-}
  else
    lukko_group=$(ps -o pgid= -p "$1")
    lukko_group=${lukko_group##* }
  fi
} 2>/dev/null

lukko_on_signal() {
  lukko_interrupted=yes
  lukko_pending="$lukko_pending $1"
  lukko_on_signals
}

# What has come since, in turn: a signal that comes meanwhile is only noted.
lukko_on_signals() {
  while [ -n "$lukko_pending" ] && [ -z "$lukko_busy" ]; do
    lukko_busy=yes
    lukko_signal=${lukko_pending# }
    lukko_signal=${lukko_signal%% *}
    lukko_pending=${lukko_pending#" $lukko_signal"}
    if [ "$lukko_signal" = URG ]; then lukko_on_call; else lukko_pass_on "$lukko_signal"; fi
    lukko_busy=
  done
}

# Asks keep.sh for the signals that it got itself, and whether Java lives. Twice, since it may have
# been called before it has looked at a signal that came earlier.
lukko_ask_keeper() {
  for lukko_time in 1 2; do
    [ -z "$lukko_java_died" ] && kill -s URG "$lukko_keeper" 2>/dev/null || return 0
    while :; do
      read -r lukko_answer <&7 || continue
      case $lukko_answer in
        started) lukko_started=yes ;;
        seen*)
          lukko_seen="$lukko_seen${lukko_answer#seen} "
          break
          ;;
        died*)
          lukko_java_died=${lukko_answer#died }
          [ "$lukko_java_died" = 0 ] || lukko_end_command
          break
          ;;
      esac
    done
  done
}

# keep.sh is there, or Java has ended, or died five seconds ago with COMMAND running.
lukko_on_call() {
  if [ -z "$lukko_ready" ]; then
    lukko_ready=yes
  elif [ -z "$lukko_java_died" ]; then
    lukko_ask_keeper
  elif [ -z "$lukko_ended" ]; then
    kill -s KILL "$lukko_child" 2>/dev/null
  fi
}

# Java died, and nobody extends the lock any more. COMMAND may be about to start.
lukko_end_command() {
  [ -z "$lukko_ended" ] || return 0
  if [ -n "$lukko_started" ]; then
    lukko_lost=yes
    printf 'lukko: its Java process died (exit code %s), and nobody extends the lock; ending the command: TERM now, KILL after 5 s\n' \
      "$lukko_java_died" >&9
  fi
  lukko_send TERM
}

# A signal that keep.sh got as well was meant for the group, so COMMAND has it too.
lukko_pass_on() {
  [ -z "$lukko_ended" ] || return 0
  lukko_group_of "$lukko_child"
  # Before keep.sh is there, the child is no COMMAND yet.
  if [ -n "$lukko_ready" ] && [ "$lukko_group" = "$lukko_own_group" ]; then
    lukko_ask_keeper
    case $lukko_seen in
      *" $1 "*) ;;
      *)
        # Some supervisors go through the processes one after the other.
        sleep 0.1 2>/dev/null
        lukko_ask_keeper
        ;;
    esac
    case $lukko_seen in
      *" $1 "*)
        while :; do
          case $lukko_seen in
            *" $1 "*) lukko_seen="${lukko_seen%%" $1 "*} ${lukko_seen#*" $1 "}" ;;
            *) return 0 ;;
          esac
        done
        ;;
    esac
  fi
  lukko_send "$1"
}

lukko_send() {
  lukko_sent=$1
  if [ "$lukko_way" = none ]; then
    case $1 in INT | QUIT) lukko_sent=TERM ;; esac # these it ignores
  fi
  kill -s "$lukko_sent" "$lukko_child" 2>/dev/null && return
  lukko_group_of "$lukko_child"
  [ -n "$lukko_group" ] || return 0 # it has ended
  lukko_untold=yes
  printf 'lukko: could not pass %s on: this user may not signal process %s\n' "$1" "$lukko_child" >&9
}

# Runs a process that ends with COMMAND's exit code, or one of lukko's own.
lukko_run() {
  lukko_pending=
  lukko_busy=yes
  lukko_interrupted=
  lukko_seen=
  lukko_ready=
  lukko_started=
  lukko_java_died=
  lukko_ended=
  lukko_lost=
  lukko_untold=
  lukko_look_at_signals
  for lukko_signal in $lukko_signals URG; do
    trap "lukko_on_signal $lukko_signal" "$lukko_signal" 2>/dev/null
  done
  lukko_make_pipes
  lukko_find_spare
  lukko_input=
  if (: 3<&0) 2>/dev/null; then
    lukko_input=yes
    eval "exec $lukko_spare<&0"
  fi
  (lukko_become_command "$@") &
  lukko_child=$!

  # From here on the descriptors are this shell's.
  (: >&2) 2>/dev/null || exec 2>/dev/null
  exec 9>&2 3<&- 4<&- 5<&- 6<&- 7<&- 8<&-
  # Both ends of each pipe, so that no opening and no writing ever waits; only Java's input ends
  # with this shell.
  exec 4<>"$lukko_pipes/java" 7<>"$lukko_pipes/keeper" || exit 70
  exec 3<"$lukko_pipes/java" 5>"$lukko_pipes/java" 4<&-
  exec 8<>"$lukko_pipes/shell" || exit 70
  lukko_options="$lukko_options -Xrs -XX:+DisableAttachMechanism -Dlukko.shell=$$ -Dlukko.child=$lukko_child"
  (
    exec 5>&- 9>&-
    lukko_alone
    lukko_with_java lukko_become_keeper "$@"
  ) &
  lukko_keeper=$!
  lukko_group_of $$
  lukko_own_group=$lukko_group
  lukko_busy=
  lukko_on_signals

  while :; do
    lukko_interrupted=
    wait "$lukko_child" 2>/dev/null
    lukko_code=$?
    # Whether it was the signal or the end that ended the wait, the next wait tells.
    [ -n "$lukko_interrupted" ] || break
  done
  lukko_ended=yes
  rm -rf "$lukko_pipes"
  printf 'exited %s\n' "$lukko_code" >&5
  while :; do
    IFS= read -r lukko_line <&8 || continue
    case $lukko_line in
      'out '*) printf '%s\n' "${lukko_line#out }" 2>/dev/null ;; # whoever reads it may have gone
      'end '*) break ;;
    esac
  done
  lukko_end=${lukko_line#end }
  # keep.sh ends with Java; where that died, it counts seconds.
  [ "$lukko_end" != 70 ] || kill -s KILL "$lukko_keeper" 2>/dev/null
  while :; do
    lukko_interrupted=
    wait "$lukko_keeper" 2>/dev/null
    [ -n "$lukko_interrupted" ] || break
  done
  [ "$lukko_end" != 70 ] || [ -n "$lukko_lost" ] ||
    printf 'lukko: its Java did not start, or died (exit code %s)\n' "${lukko_java_died:-unknown}" >&9
  [ -z "$lukko_lost" ] || exit 79
  [ -z "$lukko_untold" ] || exit 80
  exit "$lukko_end"
}

lukko_become_keeper() {
  lukko_defaults sh "$lukko_scripts/keep.sh" "$@"
}
