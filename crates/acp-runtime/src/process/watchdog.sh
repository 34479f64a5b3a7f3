# Ends the process trees of a host that died without doing so itself.
#
# Standard input is a pipe that only the host holds. Lines: `s` when an agent is about to start, then `f` when it failed to or
# `+ SESSION START` for its tree, `- SESSION START` when that is gone. $1 is the host's token, which every process of every
# tree carries in its environment. At the end of input the trees that are still noted, or about to begin, get SIGTERM, and
# SIGKILL until none is left. A process is touched only if it carries the token, or (Linux) is in a session that a noted tree
# began, or has a parent that is touched.
trap '' HUP INT QUIT TERM USR1 USR2 PIPE TSTP TTIN TTOU
cd /
token=$1
trees=
starting=0
members=' '

while read -r op session start; do
  case $op in
    s) starting=$((starting + 1)) ;;
    f) starting=$((starting - 1)) ;;
    +)
      starting=$((starting - 1))
      trees="$trees $session:$start"
      ;;
    -)
      left=
      for tree in $trees; do
        [ "$tree" = "$session:$start" ] || left="$left $tree"
      done
      trees=$left
      ;;
  esac
done
[ -n "$trees" ] || [ $starting -gt 0 ] || exit 0

# Sets $state, $parent, $in_session and $started of process $1 from /proc; fails when there is no such process.
look() {
  stat=
  {
    while read -r line || [ -n "$line" ]; do
      stat="$stat $line"
    done <"/proc/$1/stat"
  } 2>/dev/null || return 1
  # The name in parentheses may hold anything; what follows its end does not.
  set -- ${stat##*) }
  [ $# -ge 20 ] || return 1
  state=$1 parent=$2 in_session=$4 started=${20}
}

# Whether process $1, started at $2 by parent $3 in session $4, belongs to a tree.
is_member() {
  case $members in *" $1:$2 "*) return 0 ;; esac
  case $marked in *" $1 "*) return 0 ;; esac
  case $sessions in *" $4 "*) return 0 ;; esac
  case $chosen in *" $3 "*) return 0 ;; esac
  return 1
}

# Signals every member; $found tells whether there was one. $members remembers them (PID:START) from pass to pass, for those
# whom only their parent, dead by then, showed to be one.
linux_pass() {
  sessions=' '
  for tree in $trees; do
    session=${tree%%:*} start=${tree#*:}
    # A leader that started at another time leads another session of the same number.
    if look "$session" && [ "$started" != "$start" ]; then continue; fi
    sessions="$sessions$session "
  done
  marked=' '
  for file in $(grep -lF -e "$token" /proc/[0-9]*/environ 2>/dev/null); do
    file=${file#/proc/}
    marked="$marked${file%/environ} "
  done
  rows=
  for dir in /proc/[0-9]*; do
    pid=${dir#/proc/}
    if [ "$pid" = $$ ] || [ "$pid" = 1 ] || ! look "$pid"; then continue; fi
    case $state in Z | X) continue ;; esac
    rows="$rows $pid:$started:$parent:$in_session"
  done
  chosen=' '
  grew=1
  while [ $grew -eq 1 ]; do
    grew=0
    for row in $rows; do
      pid=${row%%:*} rest=${row#*:}
      start=${rest%%:*} rest=${rest#*:}
      case $chosen in *" $pid "*) continue ;; esac
      is_member "$pid" "$start" "${rest%%:*}" "${rest#*:}" || continue
      chosen="$chosen$pid "
      grew=1
      signal_one "$1" "$pid"
      case $members in *" $pid:$start "*) ;; *) members="$members$pid:$start " ;; esac
    done
  done
}

# `ps` shows the environment after the command, with -E on macOS and -e on the BSDs.
other_pass() {
  { ps -axww -E -o pid= -o pgid= -o command= || ps -axww -e -o pid= -o pgid= -o command=; } 2>/dev/null |
    {
      while read -r pid group rest; do
        case $rest in
          *"FUSION_ACP_TREE="*"$token"*)
            signal_one "$1" "$pid"
            case " $trees" in *" $group:"*) kill -s "$1" -- "-$group" 2>/dev/null ;; esac
            ;;
        esac
      done
      return $found
    }
  found=$?
}

# Without a process table that speaks of our own ids, only the groups that the agents lead can be reached.
group_pass() {
  for tree in $trees; do
    kill -s "$1" -- "-${tree%%:*}" 2>/dev/null && found=1
  done
}

signal_one() {
  [ "$2" = "$$" ] && return
  kill -s "$1" "$2" 2>/dev/null && found=1
}

# Whose ids /proc shows: ours, those of another process namespace, or there is none.
table=none
{ read -r itself line </proc/self/stat; } 2>/dev/null && if [ "$itself" = "$$" ]; then table=own; else table=foreign; fi

pass() {
  found=0
  case $table in
    own) linux_pass "$1" ;;
    none) other_pass "$1" ;;
    foreign) group_pass "$1" ;;
  esac
}

pause() { sleep "$1" 2>/dev/null || sleep 1; }

pass TERM
pause 0.3
tries=0
quiet=0
while [ $tries -lt 50 ]; do
  pass KILL
  if [ $found -eq 0 ]; then quiet=$((quiet + 1)); else quiet=0; fi
  # Once is not enough: a process that is just being started, or whose parent vanished under the pass, can be missed.
  [ $quiet -ge 2 ] && exit 0
  tries=$((tries + 1))
  pause 0.05
done
