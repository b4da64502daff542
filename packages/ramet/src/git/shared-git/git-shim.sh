#!/bin/sh
# ramet git shim
node=@node@
real=$RAMET_REAL_GIT
if [ ! -x "$real" ]; then
  real=
  old_ifs=$IFS; IFS=:
  for place in $PATH; do
    if [ -x "$place/git" ] && [ ! "$place/git" -ef "$0" ]; then real=$place/git; break; fi
  done
  IFS=$old_ifs
  if [ -z "$real" ]; then echo "git: not found" >&2; exit 127; fi
fi

top=. command= skip= exotic=${GIT_DIR}${GIT_WORK_TREE}
for word do
  if [ -n "$skip" ]; then
    if [ "$skip" = C ]; then
      case $word in /*) top=$word ;; *) top=$top/$word ;; esac
    fi
    skip=
    continue
  fi
  case $word in
    -C) skip=C ;;
    -c | --namespace | --super-prefix | --config-env | --attr-source) skip=x ;;
    --git-dir | --work-tree) skip=x exotic=1 ;;
    --git-dir=* | --work-tree=* | --bare) exotic=1 ;;
    -*) ;;
    *) command=$word; break ;;
  esac
done

locking() {
  case $1 in
    add | stage | commit | rm | mv | reset | checkout | switch | restore | stash | merge | rebase | cherry-pick | revert | am | \
    apply | pull | clean | read-tree | update-index | checkout-index | sparse-checkout | submodule | bisect | citool) return 0 ;;
  esac
  return 1
}

# In a folder that is not trusted its own diff programs do not run.
if [ "$command" = diff ] && [ -n "$RAMET_GIT_PLAIN_DIFF" ]; then
  count=$# skip= looked=
  while [ $count -gt 0 ]; do
    word=$1; shift; count=$((count - 1)); set -- "$@" "$word"
    if [ -n "$looked" ]; then continue; fi
    if [ -n "$skip" ]; then skip=; continue; fi
    case $word in
      -C | -c | --git-dir | --work-tree | --namespace | --super-prefix | --config-env | --attr-source) skip=1 ;;
      -*) ;;
      *) looked=1; set -- "$@" --no-ext-diff ;;
    esac
  done
fi

if [ -z "$command" ]; then exec "$real" "$@"; fi
if ! locking "$command"; then
  case $command in
    status | diff | log | show | blame | grep | describe | ls-files | diff-index | diff-files)
      GIT_OPTIONAL_LOCKS=0; export GIT_OPTIONAL_LOCKS
      exec "$real" "$@" ;;
    annotate | archive | branch | bundle | cat-file | check-ignore | clone | commit-tree | config | count-objects | \
    fetch | for-each-ref | format-patch | fsck | gc | hash-object | help | init | ls-remote | ls-tree | merge-base | \
    merge-tree | mktree | notes | push | reflog | remote | rev-list | rev-parse | shortlog | show-ref | symbolic-ref | \
    tag | update-ref | version | worktree | write-tree)
      exec "$real" "$@" ;;
  esac
  # An alias counts as what it stands for. One that is a shell command runs as it is: git gives it a PATH of its own.
  depth=0
  while [ $depth -lt 5 ] && ! locking "$command"; do
    alias=$("$real" -C "$top" config --get "alias.$command" 2>/dev/null) || break
    case $alias in '!'*) break ;; esac
    command=${alias%%[!a-z-]*}
    depth=$((depth + 1))
  done
  locking "$command" || exec "$real" "$@"
fi

# Git's own answer, for options and variables that lead elsewhere than the directory.
git_directory() {
  count=$#
  while [ $count -gt 0 ]; do
    case $1 in
      -C | -c | --git-dir | --work-tree | --namespace | --super-prefix | --config-env | --attr-source)
        set -- "$@" "$1" "$2"; shift 2; count=$((count - 2)) ;;
      -*) set -- "$@" "$1"; shift; count=$((count - 1)) ;;
      *) shift $count; count=0 ;;
    esac
  done
  "$real" "$@" rev-parse --absolute-git-dir 2>/dev/null
}
if [ -n "$exotic" ]; then
  directory=$(git_directory "$@")
else
  while [ ! -e "$top/.git" ] && [ ! "$top" -ef / ]; do top=$top/..; done
  directory=$top/.git
  if [ -f "$directory" ]; then
    read -r _ directory <"$top/.git"
    case $directory in /*) ;; *) directory=$top/$directory ;; esac
  fi
fi
if [ ! -f "$directory/HEAD" ]; then exec "$real" "$@"; fi

own= absolute=
if [ -n "$RAMET_CHECKOUT" ] && [ "$directory" -ef "$RAMET_CHECKOUT" ]; then own=1 absolute=$RAMET_CHECKOUT
else absolute=$(cd -P -- "$directory" && pwd -P); fi
holder=${RAMET_GIT_LOCK%% *}
if [ -n "$holder" ] && [ "${RAMET_GIT_LOCK#* }" = "$absolute" ] && kill -0 "$holder" 2>/dev/null; then exec "$real" "$@"; fi

# Who made a commit, in which session and for what stands in it (WORK-6). An alias is left as it is.
if [ -n "$own" ] && [ -n "$RAMET_AGENT" ] && [ -n "$RAMET_TRAILERS" ] && [ "$command" = commit ]; then
  count=$# skip= looked=
  while [ $count -gt 0 ]; do
    word=$1; shift; count=$((count - 1))
    if [ "$word" = commit ] && [ -z "$looked$skip" ]; then
      set -- "$@" -c trailer.ifexists=addIfDifferent
    fi
    set -- "$@" "$word"
    if [ -n "$looked" ]; then continue; fi
    if [ -n "$skip" ]; then skip=; continue; fi
    case $word in
      -C | -c | --git-dir | --work-tree | --namespace | --super-prefix | --config-env | --attr-source) skip=1 ;;
      -*) ;;
      commit)
        looked=1
        set -- "$@" "--trailer=Ramet-Agent: $RAMET_AGENT" "--trailer=Ramet-Session: ${RAMET_AGENT%.*}"
        if [ -n "$RAMET_TASK" ]; then set -- "$@" "--trailer=Ramet-Task: $RAMET_TASK"; fi ;;
      *) looked=1 ;;
    esac
  done
fi

several() { set -- "$RAMET_CHECKOUT_STATE"/agents/*; [ $# -gt 1 ]; }
shared=
if [ -n "$own" ] && [ -n "$RAMET_AGENT" ] && [ -n "$RAMET_GIT_HELPER" ] && several; then shared=1; fi

if ! command -v flock >/dev/null 2>&1; then
  if [ -z "$own" ] || [ -z "$RAMET_GIT_HELPER" ]; then exec "$real" "$@"; fi
  RAMET_REAL_GIT=$real; export RAMET_REAL_GIT
  exec "$node" "$RAMET_GIT_HELPER" --take-lock "$@"
fi
exec 9<"$absolute"
if ! flock -w 300 9; then
  echo "ramet: other git commands have held $absolute for 300 s; nothing was done. Try again." >&2
  exit 128
fi
RAMET_GIT_LOCK="$$ $absolute" RAMET_REAL_GIT=$real
export RAMET_GIT_LOCK RAMET_REAL_GIT

turns=0
while [ -e "$absolute/index.lock" ] && [ $turns -lt 50 ]; do sleep 0.1; turns=$((turns + 1)); done
if [ $turns -eq 50 ]; then
  echo "ramet: $absolute/index.lock has been there for over 5 s: a git command outside Ramet runs, or one was killed. Remove it only if no git runs here." >&2
fi

trap : HUP INT QUIT TERM
if [ -n "$shared" ]; then "$node" "$RAMET_GIT_HELPER" "$@" 9<&-
else "$real" "$@" 9<&-; fi
code=$?
# In a sandbox git cannot lock the packed refs, so it cannot forget what it has picked: the next commit would get that author.
forget_pick() {
  for word do
    case $word in --dry-run | --short | --porcelain | --long) return ;; esac
  done
  for state in sequencer rebase-merge rebase-apply; do if [ -d "$absolute/$state" ]; then return; fi; done
  rm -f "$absolute/CHERRY_PICK_HEAD"
}
if [ $code -eq 0 ] && [ -e "$absolute/CHERRY_PICK_HEAD" ] && [ -e "$absolute/commondir" ] && [ ! -w "$absolute/../.." ]; then
  case $command in cherry-pick | rebase | revert | commit) forget_pick "$@" ;; esac
fi
if [ -z "$shared" ] && [ -n "$own" ] && [ $code -eq 0 ] && [ "$command" = commit ] && [ -n "$RAMET_AGENT" ]; then
  # Not to be written from within a sandbox; in a shell of its own, since a failed redirection of : ends the shell.
  (: >"$RAMET_CHECKOUT_STATE/settled/$RAMET_AGENT") 2>/dev/null
fi
if [ $code -gt 128 ]; then
  trap - HUP INT QUIT TERM
  kill -$((code - 128)) $$ 2>/dev/null
fi
exit $code
