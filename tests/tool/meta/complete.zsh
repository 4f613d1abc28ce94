# SPDX-License-Identifier: Apache-2.0
#
# complete.zsh FOLDER OUT LINE...: what an interactive zsh completes each LINE to, in OUT: the matches one a line, and "." behind those of
# each LINE. FOLDER has the completions under zsh's names.
zmodload zsh/zpty
typeset -x NPUMEM_FPATH=$1 NPUMEM_OUT=$2
: >$2
zpty -b shell zsh -f -i
zpty -w shell 'PS1= fpath=($NPUMEM_FPATH $fpath); autoload -Uz compinit; compinit -u -D'
# As compadd is called, but noting what matches; calls that only fill arrays are left alone.
zpty -w shell 'compadd() { if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi; typeset -a matches; builtin compadd -A matches "$@"; (( $#matches )) && print -rl -- $matches >>$NPUMEM_OUT; builtin compadd "$@" }'
zpty -w shell 'note_end() { print . >>$NPUMEM_OUT }; complete-it() { comppostfuncs=(note_end); _main_complete }; zle -C complete-it list-choices complete-it; bindkey "^I" complete-it'
shift 2
integer count=0 looks
for line; do
    ((++count))
    zpty -w -n shell "$line"$'\t'
    for ((looks = 0; looks < 1000; looks++)); do
        zpty -r -t shell said 2>/dev/null
        [[ $(grep -c '^\.$' $NPUMEM_OUT) -ge count ]] && break
        sleep 0.01
    done
    zpty -w -n shell $'\025'
done
zpty -d shell
