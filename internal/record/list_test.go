package record_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/record"
)

func (w *world) list(t *testing.T, entity, where string, first int, after string) (page *record.Page, err error) {
	t.Helper()
	var conditions []record.Condition
	for field, value := range object(t, where) {
		conditions = append(conditions, record.Condition{Field: field, Value: value})
	}
	w.inGate(t, func(ctx context.Context, tx pgx.Tx) {
		page, err = w.registry.List(ctx, tx, w.maria, w.entity(t, entity), conditions, first, after)
	})
	return page, err
}

func keys(p *record.Page) []string {
	var list []string
	for _, r := range p.Records {
		list = append(list, r.Key)
	}
	return list
}

func TestListReadsWhatMeetsAllConditions(t *testing.T) {
	w := harbor(t)
	for where, want := range map[string][]string{
		``:                                   {"1", "2", "3", "4"},
		`{"status":"released"}`:              {"1", "2"},
		`{"status":"released","priority":5}`: {"2"},
		`{"status":"cancelled"}`:             nil,
		`{"quantity":"240.00"}`:              {"1"},
		`{"quantity":480}`:                   {"3"},
		`{"due_date":"2026-06-06"}`:          {"3"},
		`{"notes":null}`:                     {"2", "4"},
		`{"order_number":"PO-1042"}`:         {"3"},
		`{"id":"3"}`:                         {"3"},
	} {
		page, err := w.list(t, "mrp.production_order", where, 10, "")
		if err != nil {
			t.Errorf("%s: %v", where, err)
		} else if got := keys(page); !slices.Equal(got, want) || page.Next != "" {
			t.Errorf("%s: %v, next %q", where, got, page.Next)
		}
	}
}

func TestListRefusesConditionsThatNameNothingOrDoNotFit(t *testing.T) {
	w := harbor(t)
	for where, want := range map[string]string{
		`{"unit_cost":"28.90"}`: `mrp.production_order has no field "unit_cost".`,
		`{"colour":"red"}`:      `mrp.production_order has no field "colour".`,
		`{"statis":"released"}`: `mrp.production_order has no field "statis"; did you mean "status"?`,
		`{"status":"open"}`:     `"status" takes one of planned, released, completed, cancelled.`,
		`{"priority":"high"}`:   `"priority" takes a whole number from -2147483648 to 2147483647.`,
	} {
		_, err := w.list(t, "mrp.production_order", where, 10, "")
		if got := refusal(t, err); got.Code != record.InvalidInput || got.Message != want {
			t.Errorf("%s: %s %s", where, got.Code, got.Message)
		}
	}
	for _, first := range []int{0, -1, 101} {
		if _, err := w.list(t, "core.role", "", first, ""); refusal(t, err).Field != "first" {
			t.Errorf("first %d: %v", first, err)
		}
	}
	for _, after := range []string{"x", "nonsense", "YWJj", "NA==", "%"} {
		if _, err := w.list(t, "core.role", "", 10, after); refusal(t, err).Field != "after" {
			t.Errorf("after %q: %v", after, err)
		}
	}
}

func refusal(t *testing.T, err error) *record.InputError {
	t.Helper()
	var refused *record.InputError
	if !errors.As(err, &refused) {
		t.Fatalf("not refused: %v", err)
	}
	return refused
}

func TestPagesHaveEveryRecordOnce(t *testing.T) {
	w := harbor(t)
	for _, size := range []int{1, 3, 8, 100} {
		var got []string
		for after, pages := "", 0; ; pages++ {
			page, err := w.list(t, "core.role", "", size, after)
			if err != nil {
				t.Fatal(err)
			}
			if len(page.Records) > size || pages > 8 {
				t.Fatalf("page %d of %d has %d records", pages, size, len(page.Records))
			}
			got = append(got, keys(page)...)
			if after = page.Next; after == "" {
				break
			}
		}
		if want := []string{"1", "2", "3", "4", "5", "6", "7", "8"}; !slices.Equal(got, want) {
			t.Errorf("by %d: %v", size, got)
		}
	}
}

func TestPagesOfACompositeKey(t *testing.T) {
	w := workshop(t, `CREATE TABLE shop.prices (list text, "from" date, price numeric(10,2), PRIMARY KEY (list, "from"));
		INSERT INTO shop.prices SELECT 'list "' || l || '"', '2026-01-01'::date + d, d FROM generate_series(1, 3) l, generate_series(0, 4) d;`, `
  shop.price: {table: shop.prices, operations: [list, get], fields: {list: , from: , price: }}
`)
	var got []string
	for after := ""; ; {
		page, err := w.list(t, "shop.price", "", 4, after)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Records {
			if again := w.mustGet(t, "shop.price", r.Key); again.Key != r.Key {
				t.Errorf("%s reads %s", r.Key, again.Key)
			}
		}
		got = append(got, keys(page)...)
		if after = page.Next; after == "" {
			break
		}
	}
	var want []string
	for l := 1; l <= 3; l++ {
		for d := 1; d <= 5; d++ {
			key, _ := json.Marshal([]string{fmt.Sprintf("list %q", fmt.Sprint(l)), fmt.Sprintf("2026-01-%02d", d)})
			want = append(want, string(key))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v\n%v", got, want)
	}
}

func TestMaskedFieldIsNotLookedFor(t *testing.T) {
	w := workshop(t, `CREATE TABLE shop.staff (id int PRIMARY KEY, name text, pin text); INSERT INTO shop.staff VALUES (1, 'Ann', '1234');`, `
  shop.person: {table: shop.staff, operations: [list, get, update], fields: {name: , pin: {masked: true, writable: true}}}
`)
	if _, err := w.list(t, "shop.person", `{"pin":"1234"}`, 10, ""); refusal(t, err).Message != `"pin" is masked, so records cannot be looked for by it.` {
		t.Error(err)
	}
	for _, guess := range []string{`{"pin":"1234"}`, `{"pin":"9999"}`} {
		if got := w.mustDraft(t, "shop.person", record.Update, "1", guess).Changed; !slices.Equal(got, []string{"pin"}) {
			t.Errorf("%s changes %v, which tells whether the guess is right", guess, got)
		}
	}
}
