/* SPDX-License-Identifier: Apache-2.0
 *
 * From frame to frame; see unwind.h. The way through plain functions is short, and all else is apart from it: signal handlers,
 * frames that were aligned anew, the linker's stubs, code without rules, and places that are new.
 *
 * On x86-64 the hook's frame says all that a walk begins with. On aarch64 it does not say where its caller's frame begins, so the
 * walk begins in itself and passes over the recorder's own frames.
 */
#include "record/unwind.h"

#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "record/modules.h"
#include "record/own_stack.h"
#include "record/python.h"
#include "record/unwind_cache.h"

#define WORD           sizeof(uintptr_t)
#define RED_ZONE_BYTES 128 /* below the stack pointer of what was interrupted; x86-64 */
#define OPENED_MAX     4   /* modules */
#define OWN_FRAMES_MAX 16  /* of the recorder, above the program's */

/* What is no function's in a file that has rules, and is interrupted: a stub of the linker's, for which x86-64 has rules. */
#if defined(__x86_64__)
#define RULE_OF_STUB ((nm_unwind_rule)NM_UNWIND_NONE)
#else
#define RULE_OF_STUB ((nm_unwind_rule)NM_UNWIND_PLT)
#endif

#define UNKNOWN     ((nm_unwind_rule)6) /* no code is known there, for now at least */

#define NOT_CHECKED __attribute__((no_sanitize("address", "thread"))) /* it reads the stack as it is */

typedef struct registers { /* of one function, at one place in it */
    uintptr_t pc, sp, fp;
    uintptr_t fp_place;        /* where fp was read; 0: that is listed already, or cannot be */
    const ucontext_t *context; /* it was interrupted here, and all its registers are there; NULL: it is in a call */
    bool is_sp_known;          /* else it is some way above `sp` */
} registers;

typedef struct walker {
    nm_recorded_thread *thread;
    nm_unwind *walk;
    nm_module_table *table;              /* held, once it was needed */
    const nm_module *opened[OPENED_MAX]; /* what has rules, and is known to be there while this walk lasts */
    nm_unwind_image images[OPENED_MAX];
    unsigned opened_count; /* from OPENED_MAX on, others are in their places */
    uintptr_t begin, end;  /* what may be read of the stack */
    bool is_own_stack, has_looked;
    bool is_stale; /* the modules are others than at the begin: all anew */
    registers at;
} walker;

/* ---- The rule for a place ------------------------------------------------------------------------------------------ */

/* Does a handler return to `address`, which is where a module begins? An emulator's page for it is such a one: nobody has the byte
 * in front of it, and no look at the modules would find out whose it is. */
static bool begins_with_sigreturn(const walker *w, uintptr_t address)
{
    const nm_module *module = nm_modules_find(w->table, address);

    return module != NULL && nm_modules_find(w->table, address - 1) != module &&
           nm_modules_is_sigreturn(module, address);
}

static nm_module *find_module(walker *w, uintptr_t pc)
{
    nm_module *module;

    if (w->table == NULL)
        w->table = nm_modules_hold(w->thread);
    module = nm_modules_find(w->table, pc);
    if (module != NULL || w->has_looked || begins_with_sigreturn(w, pc + 1))
        return module;
    w->has_looked = true;
    nm_modules_release(w->thread);
    w->walk->is_certain &= nm_modules_look_again();
    w->is_stale = nm_modules_generation() != w->walk->generation;
    w->table = nm_modules_hold(w->thread);
    return nm_modules_find(w->table, pc);
}

/* NULL: it has no rules, or is there no more. */
static const nm_unwind_image *open_module(walker *w, nm_module *module)
{
    unsigned place = w->opened_count % OPENED_MAX;

    for (unsigned i = 0; i < OPENED_MAX; i++) {
        if (w->opened[i] == module)
            return &w->images[i];
    }
    w->opened[place] = NULL;
    if (!nm_modules_open(module, w->thread->file_head, &w->images[place]))
        return NULL;
    w->opened[place] = module;
    w->opened_count++;
    return &w->images[place];
}

/* `is_return`: something returns to pc + 1. */
static nm_unwind_rule describe(walker *w, nm_module *module, uintptr_t pc, bool is_return)
{
    const nm_unwind_image *image = open_module(w, module);
    nm_unwind_rule rule = image != NULL ? nm_unwind_describe(image, pc) : NM_UNWIND_NONE;

    if (rule != NM_UNWIND_NONE || !is_return)
        return rule == NM_UNWIND_NONE && image != NULL ? RULE_OF_STUB : rule;
    if (nm_modules_is_sigreturn(module, pc + 1)) /* where the kernel's own page for it has no rules */
        return NM_UNWIND_SIGNAL;
    /* In front of a function, and no call there: its address was put below a stack that the program made, as makecontext does. */
    return image != NULL && nm_unwind_describe(image, pc + 1) != NM_UNWIND_NONE &&
                   !nm_modules_follows_call(module, pc + 1)
               ? NM_UNWIND_END
               : NM_UNWIND_NONE;
}

__attribute__((noinline, cold)) static nm_unwind_rule find_new_rule(walker *w, uintptr_t pc, uint64_t key, bool is_call)
{
    nm_unwind_rule rule;
    nm_module *module;

    if (!w->walk->may_describe) {
        w->walk->is_certain = false;
        return UNKNOWN;
    }
    module = find_module(w, pc);
    if (is_call && begins_with_sigreturn(w, pc + 1))
        rule = NM_UNWIND_SIGNAL;
    else if (module == NULL)
        return UNKNOWN;
    else
        rule = describe(w, module, pc, is_call) | (is_call ? NM_UNWIND_IS_CALL : 0);
    if (!w->is_stale)
        nm_unwind_cache_put(key, rule);
    return rule;
}

/* `is_call`: who is at `pc` has called somebody, as far as a rule can say. */
static inline nm_unwind_rule find_rule(walker *w, uintptr_t pc, bool is_call)
{
    uint64_t key = nm_unwind_key(pc, w->walk->generation);
    nm_unwind_rule rule;

    if (nm_likely(nm_unwind_cache_find(key, &rule)))
        return rule;
    return find_new_rule(w, pc, key, is_call);
}

/* ---- What the memo needs ------------------------------------------------------------------------------------------- */

/* The walk has read `value` at `place`. */
static inline void note_place(walker *w, uintptr_t place, uintptr_t value)
{
    nm_unwind *walk = w->walk;
    uintptr_t word = (place - walk->frame) / WORD;

    if (nm_unlikely(!walk->is_memoable || walk->place_count == NM_MEMO_PLACES_MAX || word > UINT16_MAX)) {
        walk->is_memoable = false;
        return;
    }
    walk->place_sum += value * nm_memo_factors[walk->place_count];
    walk->places[walk->place_count++] = (uint16_t)word;
}

/* A saved FP is noted only where something is reckoned from it: else it mostly is somebody's data, and differs each time. */
static inline void note_fp(walker *w)
{
    if (w->at.fp_place == 0)
        return;
    note_place(w, w->at.fp_place, w->at.fp);
    w->at.fp_place = 0;
}

/* ---- From a function to its caller ---------------------------------------------------------------------------------- */

#if defined(__x86_64__)
NOT_CHECKED static uintptr_t context_register(const ucontext_t *context, unsigned number)
{
    static const int8_t places[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                                    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

    return (uintptr_t)context->uc_mcontext.gregs[places[number & 15]];
}

NOT_CHECKED static uintptr_t context_pc(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}

#define CONTEXT_OFFSET 0 /* from where the handler returns to */
#else
NOT_CHECKED static uintptr_t context_register(const ucontext_t *context, unsigned number)
{
    return number == NM_UNWIND_SP ? context->uc_mcontext.sp : context->uc_mcontext.regs[number % 31];
}

NOT_CHECKED static uintptr_t context_pc(const ucontext_t *context)
{
    return context->uc_mcontext.pc;
}

#define CONTEXT_OFFSET sizeof(siginfo_t)
#endif

/* The register that the CFA is reckoned from. False: nobody knows what it held. */
static inline bool read_base(walker *w, nm_unwind_rule rule, uintptr_t *base)
{
    unsigned number = nm_unwind_register_of(rule);

    if (number == NM_UNWIND_SP) {
        *base = w->at.sp;
        return w->at.is_sp_known;
    }
    if (number == NM_UNWIND_FP) {
        note_fp(w);
        *base = w->at.fp;
        return true;
    }
    if (w->at.context == NULL)
        return false;
    *base = context_register(w->at.context, number);
    return true;
}

/* May the word be read? It is on the stack, at the stack pointer or above it. */
static inline bool is_word(const walker *w, uintptr_t place)
{
    uintptr_t begin = w->at.sp - (w->at.context != NULL ? RED_ZONE_BYTES : 0);

    return place >= begin && place < w->end && w->end - place >= WORD && place % WORD == 0;
}

#if defined(__aarch64__)
/* Behind a step by FP alone, `sp` is not known; but FP points to where it was saved, and the rule says where that is. */
static bool reckon_from_fp(const walker *w, nm_unwind_rule rule, uintptr_t *cfa)
{
    bool is_saved = (rule & (NM_UNWIND_HAS_FP | NM_UNWIND_HAS_RA)) == (NM_UNWIND_HAS_FP | NM_UNWIND_HAS_RA);

    *cfa = w->at.fp - (uintptr_t)nm_unwind_fp_offset(rule);
    return is_saved && !w->at.is_sp_known && nm_unwind_ra_offset(rule) == nm_unwind_fp_offset(rule) + (int64_t)WORD;
}
#else
static bool reckon_from_fp(const walker *w, nm_unwind_rule rule, uintptr_t *cfa)
{
    (void)w, (void)rule, (void)cfa;
    return false;
}
#endif

/* The caller's stack pointer is `cfa`: its registers. */
NOT_CHECKED __attribute__((always_inline)) static inline bool leave_frame(walker *w, nm_unwind_rule rule, uintptr_t cfa)
{
    registers *at = &w->at;
    uintptr_t fp_place = (rule & NM_UNWIND_FP_BY_FP ? at->fp : cfa) + (uintptr_t)nm_unwind_fp_offset(rule);
    uintptr_t ra_place = cfa - WORD;

#if defined(__aarch64__)
    ra_place = cfa + (uintptr_t)nm_unwind_ra_offset(rule);
#endif
    /* A leaf of aarch64 has no frame at all. */
    if (nm_unlikely(cfa > w->end || cfa % WORD != 0 || cfa < at->sp ||
                    (cfa == at->sp && (at->context == NULL || (rule & NM_UNWIND_HAS_RA)))))
        return false;
    if (rule & NM_UNWIND_HAS_RA) {
        if (nm_unlikely(!is_word(w, ra_place)))
            return false;
        at->pc = *(const uintptr_t *)ra_place;
        note_place(w, ra_place, at->pc);
    } else {
        if (at->context == NULL)
            return false;
        at->pc = context_register(at->context, NM_UNWIND_RA);
    }
    if (rule & NM_UNWIND_HAS_FP) {
        if (nm_unlikely(!is_word(w, fp_place)))
            return false;
        at->fp = *(const uintptr_t *)fp_place;
        at->fp_place = fp_place;
    }
    at->sp = cfa;
    at->is_sp_known = true;
    at->context = NULL;
    return true;
}

static inline bool step_frame(walker *w, nm_unwind_rule rule)
{
    uintptr_t cfa, base;

    if (nm_unlikely(reckon_from_fp(w, rule, &cfa)))
        return leave_frame(w, rule, cfa);
    if (!read_base(w, rule, &base))
        return false;
    return leave_frame(w, rule, base + (uintptr_t)nm_unwind_cfa_offset(rule));
}

NOT_CHECKED static bool step_stored(walker *w, nm_unwind_rule rule)
{
    uintptr_t place, cfa;

    if (!read_base(w, rule, &place))
        return false;
    place += (uintptr_t)nm_unwind_cfa_offset(rule);
    if (!is_word(w, place))
        return false;
    cfa = *(const uintptr_t *)place;
    note_place(w, place, cfa);
    return leave_frame(w, rule, cfa);
}

#if defined(__x86_64__)
static bool step_plt(walker *w, nm_unwind_rule rule)
{
    bool is_pushed = (w->at.pc & 15) * 8 >= (uintptr_t)nm_unwind_cfa_offset(rule);

    return leave_frame(w, rule, w->at.sp + 8 + (is_pushed ? 8 : 0));
}
#else
/* Stubs have no rules there. The return address is in its register, and pushed as well by the one that calls the linker. */
NOT_CHECKED static bool step_plt(walker *w, nm_unwind_rule rule)
{
    uintptr_t pushed = w->at.sp + WORD;

    if (w->at.context == NULL || !is_word(w, pushed))
        return false;
    return leave_frame(
        w, rule,
        w->at.sp + (*(const uintptr_t *)pushed == context_register(w->at.context, NM_UNWIND_RA) ? 2 * WORD : 0));
}
#endif

/* Which stack is `sp` on? False: nobody knows, and nothing may be read of it. */
static bool enter_stack(walker *w, uintptr_t sp)
{
    w->is_own_stack = nm_own_stack_has(w->thread, sp);
    w->begin = w->is_own_stack ? w->thread->stack_begin : 0;
    w->end = w->is_own_stack ? w->thread->stack_end : 0;
    if (w->is_own_stack || nm_own_stack_other(w->thread, sp, w->walk->may_describe, &w->begin, &w->end))
        return true;
    w->walk->is_certain &= w->walk->may_describe;
    return false;
}

/* A handler's frame: what it interrupted goes on, there or on another stack. */
NOT_CHECKED static bool step_signal(walker *w)
{
    uintptr_t place = w->at.sp + CONTEXT_OFFSET;
    const ucontext_t *context = (const ucontext_t *)place;
    registers at = {.context = context, .is_sp_known = true};

    w->walk->is_memoable = false;
    if (place < w->at.sp || place % WORD != 0 || place >= w->end ||
        w->end - place < offsetof(ucontext_t, uc_mcontext) + sizeof context->uc_mcontext)
        return false;
    at.pc = context_pc(context);
    at.sp = context_register(context, NM_UNWIND_SP);
    at.fp = context_register(context, NM_UNWIND_FP);
    w->at = at;
    return (at.sp >= w->begin && at.sp < w->end) || enter_stack(w, at.sp);
}

/* Does a return address that no rule has led to follow a call, in code that is known? Asked once for each. */
static bool is_after_call(walker *w, uintptr_t pc)
{
    nm_unwind_rule rule = find_rule(w, pc - 1, false);
    const nm_module *module;

    if (rule == UNKNOWN || (rule & NM_UNWIND_IS_CALL))
        return rule != UNKNOWN;
    module = w->walk->may_describe ? find_module(w, pc - 1) : NULL;
    if (module == NULL || !nm_modules_follows_call(module, pc))
        return false;
    nm_unwind_cache_put(nm_unwind_key(pc - 1, w->walk->generation), rule | NM_UNWIND_IS_CALL);
    return true;
}

/* No rule: FP is believed where it leads up on the thread's own stack, and to what follows a call. */
NOT_CHECKED static bool step_by_fp(walker *w)
{
    uintptr_t frame = w->at.fp, pc;

    if (!w->is_own_stack || !is_word(w, frame) || !is_word(w, frame + WORD))
        return false;
    note_fp(w);
    pc = ((const uintptr_t *)frame)[1];
    note_place(w, frame + WORD, pc);
    if (!is_after_call(w, nm_plain_address(pc)))
        return false;
    w->at = (registers){.pc = pc, .sp = frame + 2 * WORD, .fp = ((const uintptr_t *)frame)[0], .fp_place = frame};
#if defined(__x86_64__)
    w->at.is_sp_known = true;
#endif
    return true;
}

__attribute__((noinline)) static bool step_otherwise(walker *w, nm_unwind_rule rule)
{
    switch (nm_unwind_kind_of(rule)) {
    case NM_UNWIND_STORED:
        return step_stored(w, rule);
    case NM_UNWIND_PLT:
        return step_plt(w, rule);
    case NM_UNWIND_SIGNAL:
        return step_signal(w);
    case NM_UNWIND_NONE:
        return step_by_fp(w);
    default:
        return false;
    }
}

static inline bool step(walker *w, nm_unwind_rule rule)
{
    return nm_likely(nm_unwind_kind_of(rule) == NM_UNWIND_FRAME) ? step_frame(w, rule) : step_otherwise(w, rule);
}

/* ---- The walk ------------------------------------------------------------------------------------------------------ */

#if defined(__x86_64__)
NOT_CHECKED static inline bool begin_walk(walker *w)
{
    const uintptr_t *words = (const uintptr_t *)w->walk->frame;

    w->at = (registers){.pc = words[1],
                        .sp = w->walk->frame + 2 * WORD,
                        .fp = words[0],
                        .fp_place = w->walk->frame,
                        .is_sp_known = true};
    note_place(w, w->walk->frame + WORD, words[1]);
    return true;
}
#else
/* Over the recorder's own frames. */
NOT_CHECKED __attribute__((noinline)) static bool begin_walk(walker *w)
{
    const uintptr_t *words = (const uintptr_t *)w->walk->frame;
    bool is_memoable = w->walk->is_memoable;
    uintptr_t pc, sp;

    __asm__ volatile("adr %0, .\n\tmov %1, sp" : "=r"(pc), "=r"(sp));
    w->at = (registers){.pc = pc, .sp = sp, .fp = (uintptr_t)__builtin_frame_address(0), .is_sp_known = true};
    for (unsigned i = 0; i < OWN_FRAMES_MAX; i++) {
        bool is_hook = w->at.fp == w->walk->frame;

        if (!step(w, find_rule(w, nm_plain_address(w->at.pc) - (i > 0), i > 0)))
            break;
        if (!is_hook)
            continue;
        w->walk->place_count = 0;
        w->walk->place_sum = 0;
        w->walk->is_memoable = is_memoable;
        w->at.fp_place = w->walk->frame;
        note_place(w, w->walk->frame + WORD, w->at.pc);
        return true;
    }
    w->at = (registers){.pc = words[1], .sp = w->walk->frame + 2 * WORD, .fp = words[0], .fp_place = w->walk->frame};
    w->walk->is_memoable = false;
    return true;
}
#endif

static inline bool is_interpreter(uintptr_t address)
{
    return address >= nm_process_python.code_begin && address < nm_process_python.code_end;
}

static void walk_frames(walker *w)
{
    nm_unwind *walk = w->walk;
    uint64_t salt = 0, hash = 0;
    unsigned count = 0;
    bool is_cut = !begin_walk(w), is_whole = false;

    while (!is_cut && !is_whole && count < walk->limit) {
        uintptr_t address = nm_plain_address(w->at.pc);
        bool is_call = w->at.context == NULL;
        nm_unwind_rule rule;

        is_whole = address == 0 && count > 0;
        if (address == 0 || (nm_unlikely(walk->is_above_python) && is_interpreter(address)))
            break;
        rule = find_rule(w, address - is_call, is_call);
        is_cut = rule == UNKNOWN;
        if (w->is_stale || (is_cut && count > 0))
            break; /* the innermost is a fact, whatever code it is */
        if (walk->addresses != NULL)
            walk->addresses[count] = address;
        count++;
        hash += nm_unwind_hash_term(address, salt);
        salt += NM_UNWIND_NEXT_SALT;
        is_whole = nm_unwind_kind_of(rule) == NM_UNWIND_END;
        is_cut = is_cut || (!is_whole && count < walk->limit && !step(w, rule));
    }
    walk->count = count;
    walk->is_cut = is_cut;
    walk->is_whole = is_whole;
    hash += nm_unwind_hash_term(is_cut, salt + (walk->generation << 48));
    hash ^= hash >> 29;
    walk->hash = hash | (hash == 0);
}

static bool walk_once(nm_recorded_thread *thread, nm_unwind *walk)
{
    walker w = {.thread = thread, .walk = walk};

    walk->place_count = 0;
    walk->place_sum = 0;
    walk->is_certain = walk->is_memoable = true;
    walk->generation = nm_modules_generation();
    nm_own_stack_holds(thread, walk->frame); /* it may have grown */
    enter_stack(&w, walk->frame);
    walk->is_memoable = walk->places != NULL && w.is_own_stack && thread->is_own_stack;
    walk_frames(&w);
    if (w.table != NULL)
        nm_modules_release(thread);
    return !w.is_stale;
}

void nm_unwind_walk(nm_recorded_thread *thread, nm_unwind *walk)
{
    /* Modules that change all the time are taken for what they are worth. */
    if (!walk_once(thread, walk) && !walk_once(thread, walk))
        walk->is_certain = false;
    walk->is_memoable &= walk->is_certain && !walk->is_cut;
}
