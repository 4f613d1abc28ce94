#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# browser.sh NODE BIN_FOLDER PROGRAM_FOLDER TEXT2TRACE SCRATCH ON|OFF: pages of runs whose truth is known, of hostile names and of a database
# without rows of allocations, looked at in a real browser by browser.mjs, which compares them with SQL. ON: they can be asked in SQL. Pictures stay in SCRATCH,
# with NPUMEM_NIGHTLY of whole pages, too.
set -u
node=$1 bin=$2 programs=$3 text2trace=$4 scratch=$5 has_sql=$6 here=$(cd "${0%/*}" && pwd)
modules=$here/../../build/node/node_modules
browser=$(command -v chromium-headless-shell chromium chromium-browser | head -n 1)
[ -n "$browser" ] || { echo "skipped: no chromium here: the page is not looked at (./test.sh installs it)" && exit 77; }
[ -d "$modules/playwright-core" ] || { echo "skipped: no playwright-core in build/node: the page is not looked at (./test.sh installs it)" && exit 77; }

die() {
    echo "$*" >&2
    exit 1
}

rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch" || exit 1
"$bin/npumem-record" -o leak.zst -- "$programs/npu_train" --steps 60 --leak --fragment >leak.log 2>&1 || die "the leaking run: $(cat leak.log)"
"$bin/npumem-record" -o oom.zst -- "$programs/npu_train" --steps 20 --leak --oom >oom.log 2>&1
"$bin/npumem-record" -o fine.zst -- "$programs/npu_train" --steps 20 >fine.log 2>&1 || die "the run without a fault: $(cat fine.log)"
"$bin/npumem-record" -o torch.zst -- "$programs/torch_like" >torch.log 2>&1 || die "the network through a library: $(cat torch.log)"
"$text2trace" "$here/hostile.txt" hostile.zst || die "hostile.txt is no trace"
"$node" "$here/groups.mjs" >groups.txt && "$text2trace" groups.txt groups.zst || die "groups.mjs prints no trace"
"$text2trace" "$here/../sql/device_memory/trace.txt" device.zst || die "the trace of two processes is none"
"$text2trace" "$here/../sql/serving_budget/trace.txt" serving.zst || die "the trace of a server is none"
for name in leak oom fine torch hostile groups device serving; do
    "$bin/npumem-ingest" --quiet $name.zst || die "$name cannot be loaded"
done
"$bin/npumem-ingest" --quiet --detail live -o live.db leak.zst || die "a database with less detail cannot be loaded"
"$bin/npumem-ingest" --quiet --detail none -o sums.db leak.zst || die "sums cannot be loaded"
"$bin/npumem-report" --whatif leak.db || die "leak has no page with other settings"
for name in oom fine torch hostile groups device serving sums live; do
    "$bin/npumem-report" $name.db || die "$name has no page"
done
# Four ranks of one job, of which one dies, a run beside another, and one that does not fit into the smallest page.
for rank in 0 1 2 3; do
    case $rank in 1) more="--leak --oom" ;; 2) more="--leak" ;; *) more=--fragment ;; esac
    RANK=$rank WORLD_SIZE=4 "$bin/npumem-record" -o rank$rank.zst -- "$programs/npu_train" --steps $((10 + rank)) $more >rank.log 2>&1
    "$bin/npumem-ingest" --quiet rank$rank.zst || die "rank $rank cannot be loaded"
done
"$bin/npumem-report" rank[0-9].db -o ranks.html && "$bin/npumem-ingest" --quiet -o ranks.db rank[0-9].db || die "ranks have no page"
cp rank3.db clockless.db && sqlite3 clockless.db 'UPDATE input SET start_realtime_ns = NULL' && "$bin/npumem-report" rank0.db clockless.db -o clockless.html || die "a rank without a clock has no page"
# What the database of a page is: of ranks without a map sums alone, of the others and of runs that are compared those rows that --detail live keeps.
for rank in 0 1 2 3; do
    case $rank in 0 | 1) detail=live ;; *) detail=none ;; esac
    "$bin/npumem-ingest" --quiet --detail $detail -o page$rank.db rank$rank.zst || die "rank $rank cannot be loaded with less"
done
"$bin/npumem-ingest" --quiet --detail live -o ranks_live.db page[0-9].db && "$bin/npumem-ingest" --quiet --detail live -o fine_live.db fine.zst || die "less of ranks"
"$bin/npumem-report" leak.db --against fine.db -o against.html || die "there is no page of two runs"
"$bin/npumem-report" --max-size 1600KiB fine.db --against leak.db -o narrow.html || die "there is no small page of two runs"
"$bin/npumem-record" --buffer 32M -o large.zst -- "$programs/npu_train" --steps 3300 --leak >large.log 2>&1
"$bin/npumem-ingest" --quiet large.zst # on a very busy machine some of its events may be lost
"$bin/npumem-report" --max-size 1MiB large.db || die "there is no small page of a large run"
"$bin/npumem-report" --no-sql -o without.html fine.db || die "a page that cannot be asked in SQL"
NPUMEM_BIN=$bin NPUMEM_BROWSER=$browser NPUMEM_NODE_MODULES=$modules exec "$node" "$here/browser.mjs" "$scratch" "$here/../../queries" "$has_sql"
