/* SPDX-License-Identifier: Apache-2.0
 *
 * A part of the loader: what operations did to heaps run by run and step by step, and workspaces that are held
 * (schema/069_operation.sql).
 */
#ifndef NM_STORE_OPERATION_ROWS_H
#define NM_STORE_OPERATION_ROWS_H

#include "store/loader.h"

nm_status nm_loader_take_operation_rise(void *context, const nm_operation_rise_row *row, nm_error *err);
nm_status nm_loader_take_step_operation(void *context, const nm_step_operation_row *row, nm_error *err);
nm_status nm_loader_take_workspace_span(void *context, const nm_workspace_span_row *row, nm_error *err);
nm_status nm_loader_write_holds(nm_loader *loader, nm_error *err); /* at the end */

#endif
