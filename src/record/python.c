/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the interpreter, and compares the walk with its own answers.
 *
 * The comparison calls the interpreter, so it waits for a hook whose thread holds the lock: the running thread state is
 * then the thread's own, whatever the version. (PyGILState_Check says 1 to everybody once there are sub-interpreters.)
 * Garbage collection is off meanwhile, where the interpreter makes objects for frames (from 3.11 on): a finaliser would run
 * the program's code inside its allocator. Until then the walk is believed if it is sound in itself: every frame leads to
 * an object of type code, that to strings and a line table, and the chain to an end.
 *
 * A thread that runs a sub-interpreter has several thread states; ours is the first, so frames of the sub-interpreter are
 * not seen, and those around it are.
 */
#include "record/python.h"

#include <dlfcn.h>
#include <string.h>

#include "record/libc.h"
#include "record/maps.h"
#include "record/text.h"
#include "record/writer.h"
#include "trace/event.h"

#define CHECKED_FRAMES_MAX 16

typedef struct nm_python_functions { /* of the interpreter, for the comparison */
    void *(*running_frame)(void);    /* PyEval_GetFrame: borrowed */
    int (*frame_line)(void *frame);
    void *(*attribute)(void *object, const char *name); /* a new reference */
    const char *(*text)(void *string, intptr_t *bytes); /* borrowed from the string */
    void (*release)(void *object);
    void *(*pending_error)(void);
    void (*clear_error)(void);
    int (*stop_collecting)(void); /* NULL before 3.10, when nothing is made either */
    int (*collect_again)(void);
} nm_python_functions;

nm_python nm_process_python;
static nm_python_functions functions;
static _Atomic uint32_t is_comparing;

/* ---- Finding it ---------------------------------------------------------------------------------------------------- */

static void *(*look_up)(void *scope, const char *name); /* dlsym */

/* Asked for by its first version, as all of libc here. Where the hooks stand in front of it, they pass such lookups on. */
static bool find_look_up(void)
{
    if (nm_libc_dlvsym == NULL)
        return false;
    *(void **)&look_up = nm_libc_dlvsym(RTLD_DEFAULT, "dlsym", NM_LIBC_FIRST);
    return look_up != NULL;
}

static bool find(void *place, const char *name)
{
    *(void **)place = look_up(RTLD_DEFAULT, name);
    return *(void **)place != NULL;
}

static unsigned find_version(void)
{
    const unsigned long *number;
    const char *(*text)(void);
    const char *at;
    int64_t major, minor = 0;

    if (find(&number, "Py_Version")) /* from 3.11 on */
        return (unsigned)(*number >> 16);
    if (!find(&text, "Py_GetVersion"))
        return 0;
    major = nm_text_number(text(), &at);
    if (*at == '.')
        minor = nm_text_number(at + 1, NULL);
    return major > 0 && minor >= 0 && minor < 256 ? (unsigned)(major << 8 | minor) : 0;
}

static bool find_types(nm_python_model *model)
{
    return find(&model->code_type, "PyCode_Type") && find(&model->frame_type, "PyFrame_Type") &&
           find(&model->string_type, "PyUnicode_Type") && find(&model->bytes_type, "PyBytes_Type");
}

static bool find_functions(nm_python *python)
{
    nm_python_functions *all = &functions;

    if (find(&all->stop_collecting, "PyGC_Disable"))
        find(&all->collect_again, "PyGC_Enable");
    return find(&python->this_thread_state, "PyGILState_GetThisThreadState") &&
           (find(&python->running_thread_state, "_PyThreadState_UncheckedGet") ||
            find(&python->running_thread_state, "PyThreadState_GetUnchecked")) &&
           (find(&python->is_finalizing, "Py_IsFinalizing") || find(&python->is_finalizing, "_Py_IsFinalizing")) &&
           find(&all->running_frame, "PyEval_GetFrame") && find(&all->frame_line, "PyFrame_GetLineNumber") &&
           find(&all->attribute, "PyObject_GetAttrString") && find(&all->text, "PyUnicode_AsUTF8AndSize") &&
           find(&all->release, "Py_DecRef") && find(&all->pending_error, "PyErr_Occurred") &&
           find(&all->clear_error, "PyErr_Clear");
}

static uint32_t find_all(nm_python *python, unsigned version)
{
    const void *runtime;

    find(&runtime, "_PyRuntime");
    if (!nm_python_layout_of(version, runtime, &python->model.layout))
        return NM_PYTHON_UNKNOWN_VERSION;
    if (!find_types(&python->model) || !find_functions(python))
        return NM_PYTHON_UNKNOWN_VERSION;
    nm_maps_code_around((uintptr_t)python->this_thread_state, &python->code_begin, &python->code_end);
    return NM_PYTHON_UNCHECKED;
}

void nm_python_find(void)
{
    nm_python *python = &nm_process_python;
    unsigned version;
    uint32_t state;

    if (nm_system_is_privileged() || nm_python_state_now() != NM_PYTHON_NONE || !find_look_up())
        return;
    version = find_version();
    if (version == 0)
        return;
    python->model.layout.version = (uint16_t)version;
    state = find_all(python, version);
    python->model.layout.version = (uint16_t)version;
    /* release: pairs with nm_python_state_now. */
    atomic_store_explicit(&python->state, state, memory_order_release);
}

__attribute__((constructor)) static void find_at_load(void)
{
    nm_python_find();
}

/* ---- Telling what is wrong ----------------------------------------------------------------------------------------- */

static _Atomic uint32_t is_trouble_noted;

/* The name of the interpreter with what is wrong with it: no text is put together in here. */
static const char *name_of(uint32_t state)
{
    static const char *const names[] = {"CPython 3.8",  "CPython 3.9",  "CPython 3.10",
                                        "CPython 3.11", "CPython 3.12", "CPython 3.13"};
    unsigned version = nm_process_python.model.layout.version;

    if (version < NM_PYTHON_VERSION_MIN || version > NM_PYTHON_VERSION_MAX)
        return "CPython of a version that is not known here";
    return state == NM_PYTHON_UNKNOWN_VERSION ? "CPython of an unusual build" : names[version - NM_PYTHON_VERSION_MIN];
}

void nm_python_note_trouble(nm_recorded_thread *thread)
{
    uint32_t state = nm_python_state_now();
    const char *name = name_of(state);
    nm_ring_text record = {.detail = NM_NOTE_PYTHON_UNREADABLE, .text_bytes = strlen(name)};

    if (state != NM_PYTHON_UNKNOWN_VERSION && state != NM_PYTHON_DIFFERS)
        return;
    /* relaxed: said once is all. */
    if (atomic_exchange_explicit(&is_trouble_noted, 1, memory_order_relaxed) == 0)
        nm_writer_put(thread, NM_EVENT_NOTE, &record, sizeof record, name, record.text_bytes);
}

const char *nm_python_take_unchecked(void)
{
    /* A child of vfork shares this memory; a child of fork that recorded nothing has nothing to say. */
    if (nm_state_generation() == 0 || nm_system_pid() != nm_process_state.pid)
        return NULL;
    /* relaxed: a flag. */
    if (nm_python_state_now() != NM_PYTHON_UNCHECKED ||
        atomic_exchange_explicit(&nm_process_python.is_used, 0, memory_order_relaxed) == 0)
        return NULL;
    return name_of(NM_PYTHON_UNCHECKED);
}

void nm_python_begin(void)
{
    /* relaxed: the generation publishes them. */
    atomic_store_explicit(&is_trouble_noted, 0, memory_order_relaxed);
    atomic_store_explicit(&nm_process_python.is_used, 0, memory_order_relaxed);
}

static void settle(uint32_t state)
{
    uint32_t unchecked = NM_PYTHON_UNCHECKED;

    /* release: see nm_python_find. What another thread settled meanwhile stays. */
    atomic_compare_exchange_strong_explicit(&nm_process_python.state, &unchecked, state, memory_order_release,
                                            memory_order_relaxed);
}

void nm_python_give_up(void)
{
    settle(NM_PYTHON_DIFFERS);
}

/* ---- Comparing ----------------------------------------------------------------------------------------------------- */

static bool is_of_type(const void *object, uintptr_t type)
{
    return object != NULL && *(const uintptr_t *)((const char *)object + NM_PYTHON_TYPE) == type;
}

static bool is_same_text(void *code, const char *name, const char *text, size_t bytes)
{
    void *string = functions.attribute(code, name);
    intptr_t length = 0;
    const char *theirs = string != NULL ? functions.text(string, &length) : NULL;
    /* A long name loses its beginning here, and a name that is no UTF-8 cannot be compared. */
    bool is_same =
        theirs == NULL ? string != NULL : (size_t)length >= bytes && memcmp(theirs + length - bytes, text, bytes) == 0;

    if (string == NULL || theirs == NULL)
        functions.clear_error();
    if (string != NULL)
        functions.release(string);
    return is_same;
}

static bool is_same_place(const nm_python_place *place, void *frame)
{
    const nm_python_model *model = &nm_process_python.model;
    nm_python_text ours;
    void *code = functions.attribute(frame, "f_code");
    int line = functions.frame_line(frame);
    bool is_same = false;

    nm_python_describe(model, place, &ours);
    if (code == NULL)
        functions.clear_error();
    else if ((uintptr_t)code == place->code && (uint32_t)(line > 0 ? line : 0) == ours.line)
        is_same = is_same_text(code, "co_filename", ours.text + ours.function_bytes, ours.file_bytes) &&
                  is_same_text(code, model->layout.version >= 0x030b ? "co_qualname" : "co_name", ours.text,
                               ours.function_bytes);
    if (code != NULL)
        functions.release(code);
    return is_same;
}

/* Their chain against ours: as long, and the same in each frame. */
static bool is_same_chain(const nm_python_place *places, const nm_python_walk *walk)
{
    uintptr_t frame_type = nm_process_python.model.frame_type;
    void *frame = functions.running_frame();
    void *held = NULL;
    bool is_same = true;

    for (unsigned i = 0; i < walk->count && is_same; i++) {
        is_same = is_of_type(frame, frame_type) && is_same_place(&places[i], frame);
        frame = is_same ? functions.attribute(frame, "f_back") : NULL;
        if (held != NULL)
            functions.release(held);
        held = frame;
    }
    is_same = is_same && (!walk->is_whole || !is_of_type(frame, frame_type));
    if (held != NULL)
        functions.release(held);
    return is_same;
}

static void compare(uintptr_t thread_state)
{
    nm_python_place places[CHECKED_FRAMES_MAX];
    nm_python_walk walk = nm_python_collect(&nm_process_python.model, thread_state, CHECKED_FRAMES_MAX, places);
    int was_collecting;

    if (walk.count == 0 && walk.is_sound)
        return; /* nothing to compare here */
    was_collecting = functions.collect_again != NULL && functions.stop_collecting();
    settle(walk.is_sound && is_same_chain(places, &walk) ? NM_PYTHON_CHECKED : NM_PYTHON_DIFFERS);
    if (was_collecting)
        functions.collect_again();
}

void nm_python_check_now(void)
{
    const nm_python *python = &nm_process_python;
    uintptr_t mine = nm_python_thread_state();
    uint32_t nobody = 0;

    if (mine == 0 || (uintptr_t)python->running_thread_state() != mine)
        return;
    /* acquire, release: one thread at a time, the others go on without. */
    if (!atomic_compare_exchange_strong_explicit(&is_comparing, &nobody, 1, memory_order_acquire, memory_order_relaxed))
        return;
    if (functions.pending_error() == NULL)
        compare(mine);
    atomic_store_explicit(&is_comparing, 0, memory_order_release);
}
