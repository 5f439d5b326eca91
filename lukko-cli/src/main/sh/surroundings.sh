# Part of ./lukko: what its shells have in common.

# What can be caught and would end a process, or means something to one. Not URG, by which the shells
# call each other; not TSTP, which stops shell and COMMAND alike when a terminal sends it. No system
# knows all of these.
lukko_signals='HUP INT QUIT ABRT TRAP SYS USR1 USR2 PIPE ALRM TERM STKFLT XCPU XFSZ VTALRM PROF WINCH IO PWR CONT
  EMT INFO 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64'

# What the application's Java gets from the environment is not for ours: it would take the debug
# port, or not start. Names and paths are UTF-8 also where the locale says nothing, as in cron.
# Java does not start in a folder that was deleted. In a subshell, or before an exec.
lukko_alone() {
  unset JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS CLASSPATH
  case ${LC_ALL:-${LC_CTYPE:-${LANG:-}}} in
    *.*) ;;
    *)
      LC_ALL=C.UTF-8
      export LC_ALL
      ;;
  esac
  env pwd >/dev/null 2>&1 || cd /
}
