# Part of ./lukko: builds the command, one build at a time in one checkout.

# By flock where there is one, else by a folder that names the process that made it. The lock is on
# pom.xml, since `mvn clean` leaves that alone.
lukko_lock_folder=
lukko_lock() {
  if command -v flock >/dev/null 2>&1; then
    exec 9<"$lukko_home/pom.xml"
    if ! flock -n 9; then
      lukko_say "waiting for another lukko that is being built"
      flock 9
    fi
    return
  fi
  lukko_wanted=$lukko_home/.lukko-build.lock
  lukko_told=
  until mkdir "$lukko_wanted" 2>/dev/null; do
    [ -d "$lukko_wanted" ] || lukko_die "cannot write to $lukko_home, and lukko is not built"
    lukko_owner=$(cat "$lukko_wanted/pid" 2>/dev/null)
    if [ -n "$lukko_owner" ] && ! kill -0 "$lukko_owner" 2>/dev/null; then
      # Its owner died. Renaming lets only one waiter take the folder away.
      mv "$lukko_wanted" "$lukko_wanted.$$" 2>/dev/null && rm -rf "$lukko_wanted.$$"
      continue
    fi
    [ -n "$lukko_told" ] || lukko_say "waiting for another lukko that is being built (lock: $lukko_wanted)"
    lukko_told=yes
    sleep 1
  done
  lukko_lock_folder=$lukko_wanted
  echo $$ >"$lukko_wanted/pid"
}

lukko_maven=
lukko_log=
lukko_clean_up() {
  [ -z "$lukko_maven" ] || kill "$lukko_maven" 2>/dev/null
  [ -z "$lukko_log" ] || rm -f "$lukko_log"
  [ -z "$lukko_lock_folder" ] || rm -rf "$lukko_lock_folder"
}

lukko_show_progress() {
  lukko_seconds=0
  while kill -0 "$lukko_maven" 2>/dev/null; do
    if [ -t 2 ]; then
      printf '\rlukko: building ... %s s ' "$lukko_seconds" >&2
    elif [ "$lukko_seconds" -gt 0 ] && [ $((lukko_seconds % 15)) -eq 0 ]; then
      lukko_say "still building ($lukko_seconds s)"
    fi
    sleep 1
    lukko_seconds=$((lukko_seconds + 1))
  done
  [ ! -t 2 ] || printf '\r\033[K' >&2
}

lukko_make() {
  command -v mvn >/dev/null 2>&1 ||
    lukko_die "is not built yet, and found no mvn to build it: install Maven 3.8.6 or newer"
  [ -x "$lukko_java_home/bin/javac" ] || [ ! -r "$lukko_java_home/release" ] ||
    lukko_die "is not built yet, and $lukko_java_home is a JRE without javac: install a JDK 17 or newer, or set JAVA_HOME to one"
  lukko_log=$(mktemp "${TMPDIR:-/tmp}/lukko-build.XXXXXX") || lukko_die "cannot write to ${TMPDIR:-/tmp}"
  lukko_say "building the lukko command first; the first time this takes a minute or more, as Maven fetches libraries"
  # A new jar beside an old library must never be started: both go, and the time of the stamp is
  # that of the start, so that a source changed meanwhile is built the next time.
  mkdir -p "$lukko_target" || lukko_die "cannot write to $lukko_target"
  rm -rf "$lukko_target/lib" "$lukko_target/lib-demo" "$lukko_target"/lukko-cli-*.jar "$lukko_target"/launcher.*
  : >"$lukko_target/launcher.started" || lukko_die "cannot write to $lukko_target"
  # What the command needs, and neither tests nor the analysers, whose place is `mvn verify`.
  (
    cd "$lukko_home" || exit
    unset JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS
    MAVEN_OPTS=${MAVEN_OPTS:--XX:TieredStopAtLevel=1}
    export MAVEN_OPTS
    exec mvn -B -ntp -q -pl lukko-cli -am -Dlukko.launcher -Dmaven.test.skip=true \
      -Dlukko.errorprone=-XepDisableAllChecks -Dlukko.nullaway=-Xep:NullAway:OFF \
      -Dspotless.check.skip=true -Denforcer.skip=true package
  ) >"$lukko_log" 2>&1 </dev/null &
  lukko_maven=$!
  lukko_show_progress
  wait "$lukko_maven"
  lukko_code=$?
  lukko_maven=
  if [ $lukko_code -ne 0 ] || ! lukko_find_jar; then
    lukko_say "the build failed (Maven's exit code is $lukko_code); the end of what it said:"
    tail -n 40 "$lukko_log" >&2
    exit 70
  fi
  # So that Maven compiles all of it anew, with the analysers, when it is asked the next time.
  rm -rf "$lukko_home"/lukko-*/target/maven-status
  mv "$lukko_target/launcher.started" "$lukko_stamp"
}

# In a process of its own, since the lock takes a descriptor, and all of the caller's are COMMAND's.
lukko_build() {
  (
    trap lukko_clean_up EXIT
    trap 'exit 143' TERM
    lukko_lock
    lukko_is_built || lukko_make
  ) </dev/null &
  lukko_builder=$!
  trap 'kill "$lukko_builder"; wait "$lukko_builder"; exit 130' INT
  trap 'kill "$lukko_builder"; wait "$lukko_builder"; exit 143' TERM
  trap 'kill "$lukko_builder"; wait "$lukko_builder"; exit 129' HUP
  wait "$lukko_builder" || exit 70
  trap - INT TERM HUP
  lukko_find_jar || exit 70
}
