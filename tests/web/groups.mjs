/* SPDX-License-Identifier: Apache-2.0
 *
 * groups.mjs: prints a text trace (tests/support/text_trace.h) whose blocks differ in whatever they can be grouped by: places in several files,
 * streams, private pools, parts of a model within each other, operators and categories. The same one each time.
 */
const ADDRESS = 0x100000000, SLOT = 0x200000, SLOTS = 300;

/* Numbers that look random: the minimal standard generator. */
function makeDice(seed) {
    let value = seed;
    return (most) => {
        value = value * 48271 % 2147483647;
        return value % most;
    };
}

const dice = makeDice(20261125), lines = [], live = new Map(), free = Array.from({length: SLOTS}, (_, i) => i);
let time = 0, numbers = 0;

function say(text) {
    lines.push(`@${time += 1 + dice(1000)} ${text}`);
}

function allocate() {
    const slot = free.splice(dice(free.length), 1)[0], size = 1 + dice(2 ** (4 + dice(12))), stack = dice(9);
    say(`alloc heap=2 address=${ADDRESS + slot * SLOT} requested=${size} block=${Math.ceil(size / 512) * 512} thread=1${stack === 0 ? '' : ` stack=${stack}`}${dice(3) === 0 ? '' : ` stream=${dice(3)}`}${dice(2) === 0 ? '' : ` policy=${dice(2) === 0 ? 7 : 2 ** 32 + 5}`} ${dice(5) === 0 ? 'miss' : 'hit'}`);
    live.set(slot, size);
}

function release() {
    const slots = [...live.keys()], young = slots.slice(-8), slot = dice(4) === 0 ? slots[dice(slots.length)] : young[dice(young.length)];
    say(`free heap=2 address=${ADDRESS + slot * SLOT} thread=1`);
    live.delete(slot);
    free.push(slot);
}

function act(times) {
    for (let i = 0; i < times; i++)
        if (live.size < 5 || (free.length > 0 && dice(100) < 60))
            allocate();
        else
            release();
}

function within(detail, name, inside) {
    const number = ++numbers;
    say(`range_begin detail=${detail} name="${name}" number=${number} thread=1`);
    inside();
    say(`range_end number=${number} thread=1`);
}

function layer(number) {
    within('module', `model.layers.${number}`, () => {
        act(3);
        within('module', `model.layers.${number}.mlp`, () => {
            within('operator', `aclnn${['Add', 'Mul', 'MatMul'][dice(3)]}`, () => act(4));
            act(2);
        });
        within('category', ['weights', 'gradients', 'activations', 'lookup tables'][dice(4)], () => act(3));
    });
}

lines.push('process 1 pid=100 host=h rank=0 begin=0 command="groups --all"', 'device 1 process=1 ordinal=0 physical=0 kind=npu name=Ascend910B capacity=1073741824',
    'heap 2 process=1 device=1 level=pool basis=requested name=pool small=4096 large=1048576', 'thread 1 process=1 tid=100 name=main',
    'attribute 1 process=1 source=environment name=PYTORCH_NPU_ALLOC_CONF value="max_split_size_mb:64"', 'attribute 2 process=1 source=version name=CANN value=8.2.RC1',
    'stack 1: /a/one.py:1:f < /a/main.py:9:main', 'stack 2: /a/one.py:1:f < /a/main.py:10:other < /a/main.py:9:main', 'stack 3: /a/one.py:7:g < /a/main.py:9:main', 'stack 4: /a/two.py:3:h < /a/main.py:9:main',
    'stack 5: /a/two.py:4:h < /a/one.py:7:g < /a/main.py:9:main', 'stack 6: lib.so+0x10 < main', 'stack 7: /b/one.py:1:f < /a/main.py:9:main', 'stack 8: helper < /a/main.py:9:main');
for (let step = 1; step <= 12; step++) {
    say(`step number=${step} thread=1`);
    act(6);
    within('module', 'model', () => {
        act(2);
        layer(step % 3);
        layer(1 + step % 3);
    });
    if (step % 4 === 0)
        say(`mark name="after ${step}" thread=1`);
}
act(20);
say('process_end process=1 thread=1 detail=exit error=0');
console.log(lines.join('\n'));
