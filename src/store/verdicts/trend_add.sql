-- trend_add.sql: how what a heap or a device holds goes on from step to step.
INSERT INTO z_step_trend (
    device_id,
    heap_id,
    measure,
    step_count,
    fitted_count,
    growth_bytes,
    line_bytes,
    scatter_bytes,
    t_value,
    t_needed,
    verdict,
    reason,
    limit_bytes,
    steps_left,
    full_step,
    full_ns
)
VALUES (
    :device_id,
    :heap_id,
    :measure,
    :step_count,
    :fitted_count,
    :growth_value,
    :line_bytes,
    :scatter_bytes,
    :t_value,
    :t_needed_value,
    :verdict,
    :reason,
    :limit_bytes,
    :left_step_count,
    :full_step,
    :full_ns
);
