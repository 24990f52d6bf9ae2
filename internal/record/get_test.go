package record_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/record"
)

func TestGetReadsARecordAsThePerson(t *testing.T) {
	w := harbor(t)
	order := w.mustGet(t, "mrp.production_order", "3")
	for field, want := range map[string]string{
		"id": `"3"`, "order_number": `"PO-1042"`, "quantity": `"480"`, "status": `"planned"`, "priority": `3`,
		"planned_start": `"2026-05-31"`, "notes": `"Planned to start on a Sunday: check the crew"`,
	} {
		if got := printed(order.Values[field]); got != want {
			t.Errorf("%s is %s, not %s", field, got, want)
		}
	}
	if order.Key != "3" || order.Label != "PO-1042" || order.Locked != "" || order.Version != "" {
		t.Errorf("key %q, label %q, locked %q, version %q", order.Key, order.Label, order.Locked, order.Version)
	}
	if _, there := order.Values["unit_cost"]; there {
		t.Error("a hidden column is in the record")
	}
}

func TestRecordThatIsNotThereAndOneThatIsNotSeenAreAnsweredAlike(t *testing.T) {
	w := harbor(t)
	for _, key := range []string{"99", "5", "abc", "", "-1", "04", " 4", "4.0", "9223372036854775808", `["4"]`, "4\x00", "4; DROP TABLE core.roles"} {
		if _, err := w.get(t, w.maria, "mrp.production_order", key); !errors.Is(err, record.ErrGone) {
			t.Errorf("key %q: %v", key, err)
		}
	}
	if order, err := w.get(t, w.Person(t, "olu@othersite.example"), "mrp.production_order", "5"); err != nil || order.Label != "PO-1042" {
		t.Errorf("the other workspace's own order: %v", err)
	}
}

func TestReadingThatIsRefusedIsUnreadable(t *testing.T) {
	w := harbor(t)
	mustExec(t, w.DB, `REVOKE SELECT ON core.roles FROM harbor_read`)
	_, err := w.get(t, w.maria, "core.role", "4")
	if !errors.Is(err, record.ErrUnreadable) {
		t.Errorf("get: %v", err)
	}
	if _, err := w.draft(t, "core.role", record.Update, "4", `{"name":"reviewer"}`); !errors.Is(err, record.ErrUnreadable) {
		t.Errorf("draft: %v", err)
	}
}

func TestLoginThatMayNotBecomeTheRoleIsNoRefusalOfARead(t *testing.T) {
	w := harbor(t)
	tx, err := w.Pools.Worker.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = w.registry.Get(t.Context(), tx, w.maria, w.entity(t, "core.role"), "4")
	if err == nil || errors.Is(err, record.ErrUnreadable) || errors.Is(err, record.ErrGone) {
		t.Errorf("the worker's read: %v", err)
	}
}

func TestAgentReadsInItsOwnPool(t *testing.T) {
	w := harbor(t)
	agent := w.Agent(t, "maria@harbor.example", "read")
	err := pgx.BeginFunc(t.Context(), w.Pools.Agent, func(tx pgx.Tx) error {
		got, err := w.registry.Get(t.Context(), tx, agent, w.entity(t, "core.role"), "4")
		if err == nil && got.Label != "editor" {
			t.Errorf("label %q", got.Label)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTransactionIsLeftAsItWasFound(t *testing.T) {
	w := harbor(t)
	const state = `SELECT current_user || ' ' || current_setting('role') || ' ' || current_setting('search_path') || ' [' || coalesce(current_setting('app.site', true), '') || ']'`
	w.inGate(t, func(ctx context.Context, tx pgx.Tx) {
		var before, after string
		if err := tx.QueryRow(ctx, state).Scan(&before); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := w.registry.Get(ctx, tx, w.maria, w.entity(t, "core.role"), "4"); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.QueryRow(ctx, state).Scan(&after); err != nil {
			t.Fatal(err)
		}
		if before != after || before != "countersign_gate none countersign, pg_catalog, pg_temp []" {
			t.Errorf("before %s, after %s", before, after)
		}
	})
}

func TestLabelsOfReferences(t *testing.T) {
	w := harbor(t)
	if user := w.mustGet(t, "core.user", "2"); user.Labels["role_id"] != "planner" || printed(user.Values["role_id"]) != `"2"` {
		t.Errorf("role of user 2: %q, %s", user.Labels["role_id"], printed(user.Values["role_id"]))
	}
	mustExec(t, w.DB, `UPDATE core.roles SET site = 'other-site' WHERE id = 4`)
	if user := w.mustGet(t, "core.user", "6"); user.Labels["role_id"] != "" || printed(user.Values["role_id"]) != `"4"` {
		t.Errorf("a role that maria does not see is told to be %q", user.Labels["role_id"])
	}
	if operation := w.mustGet(t, "crp.operation", "1"); operation.Label != "operation 10 of 2026-06-02" || operation.Labels["order_id"] != "PO-1039" {
		t.Errorf("label %q of %q", operation.Label, operation.Labels["order_id"])
	}
}

func TestLockedRecordSaysWhy(t *testing.T) {
	w := harbor(t)
	if got := w.mustGet(t, "mrp.production_order", "4").Locked; got != "This record is not offered for change: Status is completed." {
		t.Errorf("locked: %q", got)
	}
}
