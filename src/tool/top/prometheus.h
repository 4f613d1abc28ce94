/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-top --prometheus FILE: a look as node_exporter's collector of text files reads it.
 */
#ifndef NM_TOOL_TOP_PROMETHEUS_H
#define NM_TOOL_TOP_PROMETHEUS_H

#include "tool/top/show.h"

/* Replaces the file: who reads it meanwhile has the old one or the new one, whole. */
nm_status top_write_prometheus(const char *path, const show_frame *frame, nm_error *err);

#endif
