-- Harbor Mill's records. The dates are fixed, so that every story of the tour reads the same on any day.
INSERT INTO core.roles (id, site, name, description) VALUES
    (1, 'harbor-mill', 'admin', 'Runs the system: users, roles, settings'),
    (2, 'harbor-mill', 'planner', 'Plans production orders and capacity'),
    (3, 'harbor-mill', 'supervisor', 'Leads a shift and approves what needs approval'),
    (4, 'harbor-mill', 'editor', 'Keeps items and texts up to date'),
    (5, 'harbor-mill', 'viewer', 'Reads everything, changes nothing'),
    (6, 'harbor-mill', 'buyer', 'Orders malt, hops and packaging'),
    (7, 'harbor-mill', 'temp', 'Seasonal staff; nobody has it at the moment'),
    (8, 'harbor-mill', 'auditor', 'Checks what was decided, and by whom'),
    (9, 'other-site', 'admin', 'Runs the system'),
    (10, 'other-site', 'planner', 'Plans production'),
    (11, 'other-site', 'viewer', NULL);

INSERT INTO core.users (id, site, name, email, role_id) VALUES
    (1, 'harbor-mill', 'Rosa Marino', 'rosa@harbor.example', 1),
    (2, 'harbor-mill', 'Maria Rossi', 'maria@harbor.example', 2),
    (3, 'harbor-mill', 'Paolo Conti', 'paolo@harbor.example', 2),
    (4, 'harbor-mill', 'Jonas Weber', 'jonas@harbor.example', 3),
    (5, 'harbor-mill', 'Aiko Tan', 'aiko@harbor.example', 3),
    (6, 'harbor-mill', 'Nadia Haddad', 'nadia@harbor.example', 4),
    (7, 'harbor-mill', 'Tom Okafor', 'tom@harbor.example', 5),
    (8, 'harbor-mill', 'Ingrid Lund', 'ingrid@harbor.example', 6),
    (9, 'harbor-mill', 'Sam Lee', 'sam@harbor.example', 8),
    (10, 'other-site', 'Olu Ade', 'olu@othersite.example', 10),
    (11, 'other-site', 'Bea Novak', 'bea@othersite.example', 9);

INSERT INTO mrp.work_centers (id, site, code, name, kind, minutes_per_day) VALUES
    (1, 'harbor-mill', 'WC-BREW', 'Brewhouse', 'brewing', 864),
    (2, 'harbor-mill', 'WC-FILL', 'Keg filling line', 'filling', 864),
    (3, 'harbor-mill', 'WC-PACK', 'Packing', 'packing', 864),
    (4, 'other-site', 'WC-BREW', 'Pilot brewhouse', 'brewing', 432);

INSERT INTO mrp.production_orders (id, site, order_number, item, quantity, unit, status, priority, planned_start, planned_finish, due_date, notes, unit_cost) VALUES
    (1, 'harbor-mill', 'PO-1039', 'FG-AMBER-20L', 240, 'keg', 'released', 3, '2026-06-02', '2026-06-03', '2026-06-05', 'For the harbour festival', 31.40),
    (2, 'harbor-mill', 'PO-1040', 'FG-STOUT-20L', 160, 'keg', 'released', 5, '2026-06-01', '2026-06-02', '2026-06-04', NULL, 36.75),
    (3, 'harbor-mill', 'PO-1042', 'FG-PALE-20L', 480, 'keg', 'planned', 3, '2026-05-31', '2026-06-02', '2026-06-06', 'Planned to start on a Sunday: check the crew', 28.90),
    (4, 'harbor-mill', 'PO-1044', 'FG-PALE-20L', 120, 'keg', 'completed', 3, '2026-05-26', '2026-05-27', '2026-05-28', NULL, 28.90),
    (5, 'other-site', 'PO-1042', 'FG-PORTER-20L', 60, 'keg', 'planned', 4, '2026-06-08', '2026-06-09', '2026-06-12', NULL, 40.10);

-- A set-up time and a time for each keg; the first operation on the first day, the last on the last.
INSERT INTO crp.operations (site, order_id, sequence, work_center_id, minutes, day)
SELECT o.site, o.id, step.sequence, c.id, trim_scale(step.setup + step.each * o.quantity),
    CASE step.sequence WHEN 10 THEN o.planned_start WHEN 20 THEN least(o.planned_start + 1, o.planned_finish) ELSE o.planned_finish END
FROM mrp.production_orders o
CROSS JOIN (VALUES (10, 'WC-BREW', 60, 1.25), (20, 'WC-FILL', 30, 0.75), (30, 'WC-PACK', 15, 0.50)) AS step (sequence, code, setup, each)
JOIN mrp.work_centers c ON c.site = o.site AND c.code = step.code
ORDER BY o.id, step.sequence;

INSERT INTO crp.calendar_days (site, work_center_id, day, available_minutes)
SELECT c.site, c.id, day::date, CASE extract(isodow FROM day) WHEN 7 THEN 0 ELSE c.minutes_per_day END
FROM mrp.work_centers c
CROSS JOIN generate_series('2026-05-25'::date, '2026-06-14'::date, '1 day') AS day
ORDER BY c.id, day;

SELECT setval(pg_get_serial_sequence('core.roles', 'id'), (SELECT max(id) FROM core.roles));
SELECT setval(pg_get_serial_sequence('core.users', 'id'), (SELECT max(id) FROM core.users));
SELECT setval(pg_get_serial_sequence('mrp.work_centers', 'id'), (SELECT max(id) FROM mrp.work_centers));
SELECT setval(pg_get_serial_sequence('mrp.production_orders', 'id'), (SELECT max(id) FROM mrp.production_orders));

ANALYZE core.roles, core.users, mrp.work_centers, mrp.production_orders, crp.operations, crp.calendar_days;
