/* SPDX-License-Identifier: Apache-2.0
 *
 * From a place in the code to its rule: a search in .eh_frame_hdr, which is sorted, gives the function's description (FDE) and
 * what it shares with others (CIE); the program in both is run up to the place, for three registers. Every length is held
 * against what is mapped before it is believed, so that a damaged library gives no rule, and never a fault.
 */
#include "record/unwind_rule.h"

#include <elf.h>
#include <string.h>

#define ENTRY_BYTES_MAX 65536 /* of a CIE or FDE: none is near it */
#define KEPT_ROWS_MAX   8     /* DW_CFA_remember_state within each other */
#define HEAD_BYTES      12    /* of .eh_frame_hdr: version, three encodings, .eh_frame, count */

/* ---- Reading within bounds ----------------------------------------------------------------------------------------- */

typedef struct reader {
    const uint8_t *at, *end;
    bool is_bad; /* it was asked for more than there is */
} reader;

static void give_up(reader *in)
{
    in->is_bad = true;
    in->at = in->end;
}

static uint64_t read_number(reader *in, unsigned bytes)
{
    uint64_t value = 0;

    if ((uintptr_t)(in->end - in->at) < bytes) {
        give_up(in);
        return 0;
    }
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)in->at[i] << (8 * i);
    in->at += bytes;
    return value;
}

static void skip(reader *in, uint64_t bytes)
{
    if (bytes > (uintptr_t)(in->end - in->at))
        give_up(in);
    else
        in->at += bytes;
}

/* LEB128; *sign is the bits above its last byte, if that says that it is negative. */
static uint64_t read_leb(reader *in, uint64_t *sign)
{
    uint64_t value = 0;

    for (unsigned shift = 0; in->at < in->end; shift += 7) {
        uint8_t byte = *in->at++;

        if (shift < 64)
            value |= (uint64_t)(byte & 127) << shift;
        if ((byte & 128) == 0) {
            *sign = shift + 7 < 64 && (byte & 64) != 0 ? ~UINT64_C(0) << (shift + 7) : 0;
            return value;
        }
    }
    give_up(in);
    *sign = 0;
    return 0;
}

static uint64_t read_uleb(reader *in)
{
    uint64_t sign;

    return read_leb(in, &sign);
}

static int64_t read_sleb(reader *in)
{
    uint64_t sign, value = read_leb(in, &sign);

    return (int64_t)(value | sign);
}

/* A pointer in one of DWARF's encodings, DW_EH_PE_*. Indirect ones are those of personalities, whose value nobody needs. */
static uintptr_t read_pointer(reader *in, uint8_t encoding)
{
    uintptr_t place = (uintptr_t)in->at;
    uint64_t value;

    if (encoding == 0xff)
        return 0;
    switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c:
        value = read_number(in, 8);
        break;
    case 0x01:
        value = read_uleb(in);
        break;
    case 0x09:
        value = (uint64_t)read_sleb(in);
        break;
    case 0x02:
        value = read_number(in, 2);
        break;
    case 0x0a:
        value = (uint64_t)(int16_t)read_number(in, 2);
        break;
    case 0x03:
        value = read_number(in, 4);
        break;
    case 0x0b:
        value = (uint64_t)(int32_t)read_number(in, 4);
        break;
    default:
        give_up(in);
        return 0;
    }
    return (encoding & 0x70) == 0x10 ? place + value : value;
}

/* ---- The program --------------------------------------------------------------------------------------------------- */

typedef enum place_kind { PLACE_SAME, PLACE_BY_CFA, PLACE_BY_FP, PLACE_UNDEFINED, PLACE_OTHER } place_kind;

/* Small: there are ten rows on the stack, which may be a signal handler's. */
typedef struct place {
    int64_t kind : 8; /* place_kind */
    int64_t offset : 56;
} place;

typedef struct row { /* what holds at one place in the code */
    uint32_t cfa_register;
    uint32_t expression_bytes;
    const uint8_t *expression; /* NULL: the CFA is a register and an offset */
    int64_t cfa_offset;
    place fp, ra;
} row;

typedef struct program {
    reader in;
    uint64_t code_factor;
    int64_t data_factor;
    uint8_t encoding; /* of pointers to code */
    uintptr_t at, pc; /* it ends where `at` is beyond `pc` */
    row now, first;   /* `first`: as the CIE left it */
    row kept[KEPT_ROWS_MAX];
    unsigned kept_count;
} program;

/* Offsets of a file of others: no overflow of theirs is ours. */
static int64_t scaled(uint64_t value, int64_t factor)
{
    return (int64_t)(value * (uint64_t)factor);
}

static void set_place(program *p, uint64_t number, place_kind kind, int64_t offset)
{
    if (number == NM_UNWIND_FP)
        p->now.fp = (place){kind, offset};
    else if (number == NM_UNWIND_RA)
        p->now.ra = (place){kind, offset};
}

static void restore_place(program *p, uint64_t number)
{
    if (number == NM_UNWIND_FP)
        p->now.fp = p->first.fp;
    else if (number == NM_UNWIND_RA)
        p->now.ra = p->first.ra;
}

static reader take_expression(program *p)
{
    uint64_t bytes = read_uleb(&p->in);
    reader expression = {p->in.at, p->in.at, false};

    skip(&p->in, bytes);
    if (!p->in.is_bad)
        expression.end = p->in.at;
    return expression;
}

/* DW_OP_bregN offset, N being FP: the one expression that says where a register of ours is. */
static void set_place_by_expression(program *p)
{
    uint64_t number = read_uleb(&p->in);
    reader expression = take_expression(p);
    bool is_by_fp = read_number(&expression, 1) == 0x70 + NM_UNWIND_FP;
    int64_t offset = read_sleb(&expression);

    is_by_fp = is_by_fp && !expression.is_bad && expression.at == expression.end;
    set_place(p, number, is_by_fp ? PLACE_BY_FP : PLACE_OTHER, offset);
}

static void advance(program *p, uint64_t amount)
{
    p->at += amount * p->code_factor;
}

static void set_cfa(program *p, uint64_t number, int64_t offset)
{
    p->now.cfa_register = number < NM_UNWIND_REGISTERS ? (uint32_t)number : NM_UNWIND_REGISTERS;
    p->now.cfa_offset = offset;
    p->now.expression = NULL;
}

/* DW_CFA_def_cfa and its kin. False: it is none of them. */
static bool run_cfa(program *p, uint8_t operation)
{
    uint64_t number;
    reader expression;

    switch (operation) {
    case 0x0c:
        number = read_uleb(&p->in);
        set_cfa(p, number, (int64_t)read_uleb(&p->in));
        return true;
    case 0x12:
        number = read_uleb(&p->in);
        set_cfa(p, number, scaled((uint64_t)read_sleb(&p->in), p->data_factor));
        return true;
    case 0x0d:
        set_cfa(p, read_uleb(&p->in), p->now.cfa_offset);
        return true;
    case 0x0e:
        p->now.cfa_offset = (int64_t)read_uleb(&p->in);
        return true;
    case 0x13:
        p->now.cfa_offset = scaled((uint64_t)read_sleb(&p->in), p->data_factor);
        return true;
    case 0x0f:
        expression = take_expression(p);
        p->now.expression = expression.at;
        p->now.expression_bytes = (uint32_t)(expression.end - expression.at);
        return true;
    default:
        return false;
    }
}

/* Where a register is; DW_CFA_offset_extended and its kin. */
static bool run_register(program *p, uint8_t operation)
{
    uint64_t number;

    switch (operation) {
    case 0x05:
        number = read_uleb(&p->in);
        set_place(p, number, PLACE_BY_CFA, scaled(read_uleb(&p->in), p->data_factor));
        return true;
    case 0x11:
        number = read_uleb(&p->in);
        set_place(p, number, PLACE_BY_CFA, scaled((uint64_t)read_sleb(&p->in), p->data_factor));
        return true;
    case 0x06:
        restore_place(p, read_uleb(&p->in));
        return true;
    case 0x07:
        set_place(p, read_uleb(&p->in), PLACE_UNDEFINED, 0);
        return true;
    case 0x08:
        set_place(p, read_uleb(&p->in), PLACE_SAME, 0);
        return true;
    case 0x09: /* in another register */
    case 0x14: /* DW_CFA_val_offset, _sf */
    case 0x15:
        number = read_uleb(&p->in);
        read_uleb(&p->in);
        set_place(p, number, PLACE_OTHER, 0);
        return true;
    case 0x10:
        set_place_by_expression(p);
        return true;
    case 0x16: /* DW_CFA_val_expression */
        number = read_uleb(&p->in);
        take_expression(p);
        set_place(p, number, PLACE_OTHER, 0);
        return true;
    default:
        return false;
    }
}

static bool run_other(program *p, uint8_t operation)
{
    switch (operation) {
    case 0x00:
    case 0x2c: /* DW_CFA_AARCH64_negate_ra_state_with_pc, negate_ra_state: a signature is taken off wherever there may be one */
    case 0x2d:
        return true;
    case 0x01:
        p->at = read_pointer(&p->in, p->encoding);
        return true;
    case 0x02:
        advance(p, read_number(&p->in, 1));
        return true;
    case 0x03:
        advance(p, read_number(&p->in, 2));
        return true;
    case 0x04:
        advance(p, read_number(&p->in, 4));
        return true;
    case 0x0a:
        if (p->kept_count == KEPT_ROWS_MAX)
            return false;
        p->kept[p->kept_count++] = p->now;
        return true;
    case 0x0b:
        if (p->kept_count == 0)
            return false;
        p->now = p->kept[--p->kept_count];
        return true;
    case 0x2e: /* DW_CFA_GNU_args_size */
        read_uleb(&p->in);
        return true;
    default:
        return false;
    }
}

/* False: it has what we do not know. */
static bool run_program(program *p, reader in)
{
    p->in = in;
    while (p->in.at < p->in.end && p->at <= p->pc) {
        uint8_t operation = *p->in.at++;

        switch (operation & 0xc0) {
        case 0x40:
            advance(p, operation & 0x3f);
            break;
        case 0x80:
            set_place(p, operation & 0x3f, PLACE_BY_CFA, scaled(read_uleb(&p->in), p->data_factor));
            break;
        case 0xc0:
            restore_place(p, operation & 0x3f);
            break;
        default:
            if (!run_cfa(p, operation) && !run_register(p, operation) && !run_other(p, operation))
                return false;
        }
    }
    return !p->in.is_bad;
}

/* ---- A row as a rule ----------------------------------------------------------------------------------------------- */

static bool fits(int64_t offset, unsigned bits)
{
    int64_t limit = INT64_C(8) << (bits - 1);

    return (offset & 7) == 0 && offset >= -limit && offset < limit;
}

static uint64_t field(int64_t offset, unsigned bits)
{
    return ((uint64_t)offset >> 3) & ((UINT64_C(1) << bits) - 1);
}

static nm_unwind_rule make_rule(nm_unwind_kind kind, uint64_t number, int64_t cfa_offset)
{
    if (number >= NM_UNWIND_REGISTERS || !fits(cfa_offset, 22))
        return NM_UNWIND_NONE;
    return (uint64_t)kind | number << 3 | field(cfa_offset, 22) << 42;
}

#if defined(__x86_64__)
/* breg7 8; breg16 0; lit15; and; litN; ge; lit3; shl; plus */
static nm_unwind_rule rule_of_plt(const row *of)
{
    static const uint8_t before[] = {0x77, 8, 0x80, 0, 0x3f, 0x1a}, behind[] = {0x2a, 0x33, 0x24, 0x22};
    const uint8_t *at = of->expression;

    if (of->expression_bytes != 11 || memcmp(at, before, 6) != 0 || memcmp(at + 7, behind, 4) != 0 || at[6] < 0x30 ||
        at[6] > 0x3f)
        return NM_UNWIND_NONE;
    return make_rule(NM_UNWIND_PLT, NM_UNWIND_SP, (at[6] - 0x30) * 8);
}
#else
static nm_unwind_rule rule_of_plt(const row *of)
{
    (void)of;
    return NM_UNWIND_NONE;
}
#endif

/* bregN offset; deref */
static nm_unwind_rule rule_of_expression(const row *of)
{
    reader in = {of->expression, of->expression + of->expression_bytes, false};
    uint64_t operation = read_number(&in, 1);
    int64_t offset = read_sleb(&in);

    if (operation >= 0x70 && operation < 0x90 && read_number(&in, 1) == 0x06 && !in.is_bad && in.at == in.end)
        return make_rule(NM_UNWIND_STORED, operation - 0x70, offset);
    return rule_of_plt(of);
}

static nm_unwind_rule add_places(nm_unwind_rule rule, const row *of)
{
    bool has_fp = of->fp.kind == PLACE_BY_CFA || of->fp.kind == PLACE_BY_FP;
    int64_t fp = has_fp ? of->fp.offset : 0, ra = (int64_t)((uint64_t)of->ra.offset - (uint64_t)fp);

#if defined(__x86_64__)
    if (of->ra.kind != PLACE_BY_CFA || of->ra.offset != -8 || !fits(fp, 22))
        return NM_UNWIND_NONE;
    ra = 0;
#else
    if (of->ra.kind != PLACE_BY_CFA)
        ra = 0;
    if ((of->ra.kind != PLACE_BY_CFA && of->ra.kind != PLACE_SAME) || of->fp.kind == PLACE_BY_FP)
        return NM_UNWIND_NONE;
    if (!has_fp && of->ra.kind == PLACE_BY_CFA) {
        fp = of->ra.offset;
        ra = 0;
    }
    if (!fits(fp, 22) || !fits(ra, 8))
        return NM_UNWIND_NONE;
#endif
    return rule | (has_fp ? NM_UNWIND_HAS_FP : 0) | (of->fp.kind == PLACE_BY_FP ? NM_UNWIND_FP_BY_FP : 0) |
           (of->ra.kind == PLACE_BY_CFA ? NM_UNWIND_HAS_RA : 0) | field(ra, 8) << 12 | field(fp, 22) << 20;
}

static nm_unwind_rule rule_of_row(const row *of)
{
    nm_unwind_rule rule;

    if (of->ra.kind == PLACE_UNDEFINED)
        return NM_UNWIND_END;
    rule =
        of->expression != NULL ? rule_of_expression(of) : make_rule(NM_UNWIND_FRAME, of->cfa_register, of->cfa_offset);
    return rule == NM_UNWIND_NONE ? rule : add_places(rule, of);
}

/* ---- CIE and FDE --------------------------------------------------------------------------------------------------- */

typedef struct shared { /* of functions: what a CIE says */
    uint64_t code_factor;
    int64_t data_factor;
    uint8_t encoding;
    bool is_sized,
        is_signal; /* FDEs have data of their own; they are of what calls no handler but is returned to by it */
    reader program;
} shared;

/* What follows the length of the entry at `address`. */
static bool open_entry(const nm_unwind_image *image, uintptr_t address, reader *out)
{
    uint64_t bytes;

    if (address < image->begin || address >= image->end)
        return false;
    *out = (reader){(const uint8_t *)address, (const uint8_t *)image->end, false};
    bytes = read_number(out, 4);
    if (bytes == 0xffffffff)
        bytes = read_number(out, 8);
    if (out->is_bad || bytes > ENTRY_BYTES_MAX || bytes > (uintptr_t)(out->end - out->at))
        return false;
    out->end = out->at + bytes;
    return true;
}

/* False: it has a letter that we do not know, whose data may be of any length. */
static bool read_augmentation(reader *in, const uint8_t *letters, shared *out)
{
    for (; *letters != 0; letters++) {
        switch (*letters) {
        case 'R':
            out->encoding = (uint8_t)read_number(in, 1);
            break;
        case 'L':
            read_number(in, 1);
            break;
        case 'P':
            read_pointer(in, (uint8_t)read_number(in, 1) & 0x0f);
            break;
        case 'S':
            out->is_signal = true;
            break;
        case 'B': /* aarch64: signed by the second key */
        case 'G':
            break;
        default:
            return false;
        }
    }
    return !in->is_bad;
}

static bool read_shared(const nm_unwind_image *image, uintptr_t address, shared *out)
{
    const uint8_t *letters;
    uint64_t version, bytes;
    reader in, data;

    if (!open_entry(image, address, &in) || read_number(&in, 4) != 0)
        return false;
    version = read_number(&in, 1);
    letters = in.at;
    while (read_number(&in, 1) != 0)
        ;
    if (in.is_bad || (version != 1 && version != 3 && version != 4) || (letters[0] != 0 && letters[0] != 'z'))
        return false;
    if (version == 4)
        skip(&in, 2);
    *out = (shared){.is_sized = letters[0] == 'z'};
    out->code_factor = read_uleb(&in);
    out->data_factor = read_sleb(&in);
    if ((version == 1 ? read_number(&in, 1) : read_uleb(&in)) != NM_UNWIND_RA)
        return false;
    if (out->is_sized) {
        bytes = read_uleb(&in);
        data = in;
        skip(&in, bytes);
        data.end = in.at;
        if (in.is_bad || !read_augmentation(&data, letters + 1, out))
            return false;
    }
    out->program = in;
    return !in.is_bad;
}

/* The program of the function at `address`, if it is the one that holds p->pc. */
static bool read_function(const nm_unwind_image *image, uintptr_t address, shared *common, program *p, reader *out)
{
    uintptr_t here, begin, bytes;
    uint64_t back;

    if (!open_entry(image, address, out))
        return false;
    here = (uintptr_t)out->at;
    back = read_number(out, 4);
    if (back == 0 || back > here - image->begin || !read_shared(image, here - back, common))
        return false;
    begin = read_pointer(out, common->encoding);
    bytes = read_pointer(out, common->encoding & 0x0f);
    if (out->is_bad || p->pc - begin >= bytes) /* no difference below 0 is that small */
        return false;
    if (common->is_sized)
        skip(out, read_uleb(out));
    p->at = begin;
    p->code_factor = common->code_factor;
    p->data_factor = common->data_factor;
    p->encoding = common->encoding;
    return !out->is_bad;
}

static nm_unwind_rule describe_function(const nm_unwind_image *image, uintptr_t address, uintptr_t pc)
{
    program p;
    shared common;
    reader own;
    uintptr_t begin;

    p.pc = pc;
    if (!read_function(image, address, &common, &p, &own))
        return NM_UNWIND_NONE;
    if (common.is_signal)
        return NM_UNWIND_SIGNAL;
    begin = p.at;
    p.kept_count = 0;
    p.now = p.first = (row){.cfa_register = NM_UNWIND_REGISTERS};
    if (!run_program(&p, common.program))
        return NM_UNWIND_NONE;
    p.first = p.now;
    p.at = begin;
    return run_program(&p, own) ? rule_of_row(&p.now) : NM_UNWIND_NONE;
}

/* ---- The index ----------------------------------------------------------------------------------------------------- */

/* The last entry whose function begins at `pc` or before, an offset of the function and one of its FDE each; -1: none. */
static int64_t find_entry(const uint8_t *entries, uint64_t count, int64_t pc)
{
    uint64_t low = 0, high = count;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        int32_t begin;

        memcpy(&begin, entries + 8 * middle, 4);
        if (begin <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return (int64_t)low - 1;
}

nm_unwind_rule nm_unwind_describe(const nm_unwind_image *image, uintptr_t pc)
{
    const uint8_t *head = (const uint8_t *)image->index;
    reader in = {head, head + image->index_bytes, false};
    uint64_t count;
    int64_t index;
    int32_t offset;

    if (image->index < image->begin || image->index >= image->end || image->index_bytes > image->end - image->index ||
        image->index_bytes < HEAD_BYTES || head[0] != 1 || head[3] != 0x3b)
        return NM_UNWIND_NONE;
    skip(&in, 4);
    read_pointer(&in, head[1]);
    count = read_pointer(&in, head[2]);
    if (in.is_bad || count > (uintptr_t)(in.end - in.at) / 8)
        return NM_UNWIND_NONE;
    index = find_entry(in.at, count, (int64_t)(pc - image->index));
    if (index < 0)
        return NM_UNWIND_NONE;
    memcpy(&offset, in.at + 8 * index + 4, 4);
    return describe_function(image, image->index + (uintptr_t)(int64_t)offset, pc);
}

uintptr_t nm_unwind_find_index(const nm_unwind_image *image, const uint8_t *head, uintptr_t head_bytes, uintptr_t base,
                               uintptr_t *index_bytes)
{
    Elf64_Ehdr file;
    Elf64_Phdr part;
    uintptr_t first = UINTPTR_MAX, found = 0;

    if (head_bytes < sizeof file)
        return 0;
    memcpy(&file, head, sizeof file);
    if (memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 || file.e_ident[EI_CLASS] != ELFCLASS64 ||
        file.e_phentsize != sizeof part || file.e_phoff > head_bytes)
        return 0;
    for (unsigned i = 0; i < file.e_phnum && (i + 1) * sizeof part <= head_bytes - file.e_phoff; i++) {
        memcpy(&part, head + file.e_phoff + i * sizeof part, sizeof part);
        if (part.p_type == PT_LOAD && first == UINTPTR_MAX)
            first = part.p_vaddr - part.p_offset; /* what offset 0 of the file would have */
        if (part.p_type == PT_GNU_EH_FRAME) {
            found = part.p_vaddr;
            *index_bytes = part.p_memsz;
        }
    }
    if (first == UINTPTR_MAX || found == 0)
        return 0;
    found = base + (found - first);
    return found >= image->begin && found < image->end && *index_bytes <= image->end - found ? found : 0;
}
