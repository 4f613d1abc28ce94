/* SPDX-License-Identifier: Apache-2.0
 *
 * A library that test_record_stacks opens and closes: its only function calls back, so that it stands in the stack.
 */
__attribute__((visibility("default"))) void *plugin_call(void (*function)(void));

void *plugin_call(void (*function)(void))
{
    function();
    return __builtin_return_address(0);
}
