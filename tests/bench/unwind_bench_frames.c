/* SPDX-License-Identifier: Apache-2.0
 *
 * The frames that unwind_bench walks: built as wheels are, -O2 without frame pointers. Each is at a place in the code of its own.
 */
#define NOINLINE __attribute__((noinline, noclone))

void unwind_bench_leaf(void);
void unwind_bench_go(unsigned depth);

#define FRAME(number)                                                                                                  \
    NOINLINE static void frame_##number(unsigned depth)                                                                \
    {                                                                                                                  \
        long room[number % 5 + 1];                                                                                     \
        __asm__ volatile("" : : "r"(room) : "memory");                                                                 \
        unwind_bench_go(depth - 1);                                                                                    \
        __asm__ volatile("" : : "r"(room) : "memory");                                                                 \
    }

#define FRAMES(ten)                                                                                                    \
    FRAME(ten##0)                                                                                                      \
    FRAME(ten##1)                                                                                                      \
    FRAME(ten##2) FRAME(ten##3) FRAME(ten##4) FRAME(ten##5) FRAME(ten##6) FRAME(ten##7) FRAME(ten##8) FRAME(ten##9)
#define NAMES(ten)                                                                                                     \
    frame_##ten##0, frame_##ten##1, frame_##ten##2, frame_##ten##3, frame_##ten##4, frame_##ten##5, frame_##ten##6,    \
        frame_##ten##7, frame_##ten##8, frame_##ten##9

FRAMES(1)
FRAMES(2)
FRAMES(3)

/* Half of the frames are its own. */
NOINLINE void unwind_bench_go(unsigned depth)
{
    static void (*const frames[])(unsigned) = {NAMES(1), NAMES(2), NAMES(3)};

    if (depth < 2)
        unwind_bench_leaf();
    else
        frames[depth / 2 % 30](depth - 1);
    __asm__ volatile("" : : : "memory");
}
