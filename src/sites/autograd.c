/* SPDX-License-Identifier: Apache-2.0
 *
 * Nodes are classes with a method `apply`: torch::autograd::generated::MulBackward0, torch::autograd::CopySlices, those of
 * a plug-in (at_npu::autograd::generated::NpuLinearBackward0), and the templates of functions written in C++. What is told
 * apart is the name itself: a template's arguments may name anything.
 */
#include "sites/autograd.h"

#include <stdbool.h>
#include <string.h>

#define ANONYMOUS "(anonymous namespace)"
#define METHOD    "::apply"

/* The length of "a::f<b(c)>" in "a::f<b(c)>(int)". */
static size_t name_length(const char *name)
{
    int depth = 0;
    size_t at = 0;

    for (; name[at] != 0; at++) {
        if (strncmp(name + at, ANONYMOUS, sizeof ANONYMOUS - 1) == 0)
            at += sizeof ANONYMOUS - 2;
        else if (name[at] == '(' && depth == 0)
            break;
        else if (name[at] == '<')
            depth++;
        else if (name[at] == '>' && depth > 0)
            depth--;
    }
    return at;
}

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* Does the class before "::apply" have Backward in its own name, as all that are generated do? */
static bool is_backward_class(const char *name, size_t length)
{
    for (size_t at = length; at > 0 && name[at - 1] != ':'; at--)
        if (begins(name + at, "Backward"))
            return true;
    return false;
}

nm_autograd nm_autograd_of(const char *name, size_t *length)
{
    size_t method_length = sizeof METHOD - 1;

    *length = name_length(name);
    if (begins(name, "torch::autograd::Engine::") || begins(name, "torch::autograd::python::PythonEngine::"))
        return NM_AUTOGRAD_ENGINE;
    if (*length <= method_length || memcmp(name + *length - method_length, METHOD, method_length) != 0)
        return NM_AUTOGRAD_NONE;
    if (begins(name, "torch::autograd::") || is_backward_class(name, *length - method_length))
        return NM_AUTOGRAD_NODE;
    return NM_AUTOGRAD_NONE;
}
