#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# strangers.sh BIN_FOLDER SPIN_EVENTS FOLDER: recordings, rings and rules of another user. Nobody reads, joins, ends or removes what is another
# one's; what somebody else made is read as what it is, and a copy of a trace does not stand for its rings. Run by root, else it is
# skipped: the other user is one who owns nothing.
set -u
bin=$1 spin=$2 folder=$3 failures=0

fail() {
    echo "FAIL: $*" >&2
    failures=$((failures + 1))
}

as_other=(setpriv --reuid 65534 --regid 65534 --clear-groups)
other() { timeout 60 "${as_other[@]}" "$@"; }

# refused STATUS TEXT COMMAND...: ends so, with one line that has TEXT.
refused() {
    local wanted=$1 text=$2 status
    shift 2
    "$@" >out 2>err </dev/null
    status=$?
    [ $status = "$wanted" ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "$text" err || fail "$*: ends with $status: $(cat err)"
}

# killed TRACE [WORD...]: a recording, by whom the words make it, whose recorder and program were killed; its rings are in a folder of his in rings/.
killed() {
    local trace=$1 recorder program
    shift
    "$@" "$bin/npumem-record" -q --ring-dir "$folder/rings" -o "$trace" -- "$spin" --events 0 --pace-ns 100000 --ack "$folder/open/ack" >/dev/null &
    recorder=$!
    for _ in $(seq 600); do
        [ "$(od -An -tu8 -N8 open/ack 2>/dev/null | tr -d ' ')" -gt 0 ] 2>/dev/null && break
        sleep 0.05
    done
    program=$(cat /proc/$recorder/task/*/children)
    kill -9 $recorder
    # shellcheck disable=SC2086
    kill -9 $program
    wait $recorder 2>/dev/null
    rm -f open/ack
    while [ -e "/proc/${program%% *}" ] && ! grep -q ') [ZX]' "/proc/${program%% *}/stat" 2>/dev/null; do sleep 0.05; done
}

rings_of() { find rings -mindepth 1 -maxdepth 1 -user "$1" | wc -l; }
state_of() { sqlite3 "$1" 'SELECT state, is_complete FROM input'; }

[ "$(id -u)" = 0 ] || { echo "skipped: root alone can be two users"; exit 77; }
rm -rf "$folder"
mkdir -p "$folder/rings" "$folder/open" "$folder/own"
cd "$folder" || exit 1
chmod 1777 rings
chmod 777 open # and not sticky: whoever writes there may replace and remove what is in it
chmod 700 own
other test -x "$bin/npumem-record" -a -x "$spin" -a -w open || { echo "skipped: user 65534 cannot come to $folder"; exit 77; }

# ---- The other user, and what is root's ----

killed "$folder/open/root.zst"
[ "$(rings_of 0)" = 1 ] || fail "no rings of a killed recording: $(ls rings)"
other "$bin/npumem-ingest" -q -o open/seen.db open/root.zst 2>err
[ $? = 3 ] && [ "$(state_of open/seen.db)" = 'unreadable|0' ] || fail "another user's rings: $(cat err) $(state_of open/seen.db)"
refused 1 'Permission denied' other "$bin/npumem-ingest" -q -o open/seen2.db "rings/$(ls rings)"
chmod 666 open/root.zst # even if he may write to the trace
refused 1 "another user" other "$bin/npumem-record" --finish open/root.zst
refused 1 '' other "$bin/npumem-record" --ctl "$folder/rings/$(ls rings)" status
refused 1 '' other "$bin/npumem-top" --once "rings/$(ls rings)"
cp open/root.zst own/root.zst
other "$bin/npumem-record" -q --force --ring-dir "$folder/rings" -o open/root.zst -- true 2>err || fail "he cannot record: $(cat err)"
[ "$(rings_of 0)" = 1 ] || fail "root's rings went with the file that another user replaced"

# A copy of root's trace that he has made does not stand for root's rings: root replaces it, and finds them all the same.
other cp open/root.zst open/root2.zst 2>/dev/null
cp own/root.zst open/copy.zst
chown 65534 open/copy.zst
"$bin/npumem-record" -q --force --ring-dir "$folder/rings" -o open/copy.zst -- true 2>err || fail "root cannot record: $(cat err)"
[ "$(rings_of 0)" = 1 ] || fail "root's rings went with a copy that another user had made"
ln own/root.zst open/second.zst
"$bin/npumem-record" -q --force --ring-dir "$folder/rings" -o open/second.zst -- true 2>err || fail "root cannot record: $(cat err)"
[ "$(rings_of 0)" = 1 ] || fail "root's rings went with a second name of their trace"
rm open/second.zst
"$bin/npumem-record" --finish own/root.zst >/dev/null 2>err || fail "root's own rings: $(cat err)"
[ "$(rings_of 0)" = 0 ] || fail "root's rings are left: $(ls rings)"

# ---- Root, and what is the other user's ----

killed "$folder/open/his.zst" "${as_other[@]}"
[ "$(rings_of 65534)" = 1 ] || fail "no rings of his: $(ls -l rings)"
"$bin/npumem-ingest" -q -o own/his.db open/his.zst 2>err
[ $? = 3 ] && [ "$(state_of own/his.db)" = 'unreadable|0' ] || fail "his rings: $(cat err) $(state_of own/his.db)"
refused 1 "another user" "$bin/npumem-record" --finish open/his.zst
"$bin/npumem-record" -q --force --ring-dir "$folder/rings" -o open/his.zst -- true 2>err || fail "root cannot record over his: $(cat err)"
[ "$(rings_of 65534)" = 1 ] || fail "his rings went with a file that root replaced"

# ---- What he puts into his own rings ----

killed "$folder/open/odd.zst" "${as_other[@]}"
echo 'what root keeps to itself' >own/secret
for rings in $(find rings -mindepth 1 -maxdepth 1 -user 65534); do
    for number in 1 2 3 77; do
        rm -f "$rings/r.$number"
    done
    ln -s "$folder/own/secret" "$rings/r.1"
    mkfifo "$rings/r.2"
    mkdir "$rings/r.3"
    head -c 100000 /dev/urandom >"$rings/r.77"
    ln -s /dev/zero "$rings/p.2"
    truncate -s 64G "$rings/p.3"
    chown -h 65534 "$rings"/*
done
other "$bin/npumem-ingest" -q --force -o open/odd.db open/odd.zst 2>err
status=$?
[ $status = 3 ] && [ "$(wc -l <err)" -le 1 ] || fail "odd rings: ends with $status: $(cat err)"
cp open/odd.zst own/odd.zst
timeout 60 "$bin/npumem-ingest" -q -o own/odd.db own/odd.zst 2>err
[ $? = 3 ] && [ "$(state_of own/odd.db)" = 'unreadable|0' ] || fail "odd rings of his, for root: $(cat err)"
other "$bin/npumem-record" --finish open/odd.zst >out 2>err
status=$?
[ $status -le 3 ] && [ "$(wc -l <err)" -le 2 ] || fail "odd rings cannot be joined: $status: $(cat err)"
[ "$(cat own/secret)" = 'what root keeps to itself' ] || fail 'the secret is another'
! grep -qa 'keeps to itself' open/odd.zst open/odd.db own/odd.db || fail 'the secret was read'

# ---- Rules ----

# What is named is read as data, whoever it belongs to; of what is wrong in it nothing is shown.
printf 'no-leak\n' >open/rules
printf 'file keeps to itself\n' >open/sites
chown 65534 open/rules open/sites
chmod 666 open/rules open/sites
"$bin/npumem-check" own/his.db --rules open/rules --allow-partial >out 2>err
status=$?
{ [ $status = 0 ] || [ $status = 1 ] || [ $status = 5 ]; } || fail "rules of his by name: $status: $(cat err)"
rm -f open/rules
ln -s "$folder/own/secret" open/rules
chown -h 65534 open/rules
"$bin/npumem-check" own/his.db --rules open/rules >out 2>err
[ $? = 2 ] && ! grep -q 'keeps to itself' out err || fail "a secret as rules: $(cat out err)"
(cd open && ln -sf ../own/secret .npumem-check && "$bin/npumem-check" ../own/his.db >../out 2>../err)
[ $? = 2 ] && ! grep -q 'keeps to itself' out err || fail "a link as rules of the folder: $(cat out err)"
"$bin/npumem-ingest" -q --force --site-rules open/sites -o own/his.db own/root.zst 2>err || fail "site rules of his by name: $(cat err)"
[ $failures = 0 ]
