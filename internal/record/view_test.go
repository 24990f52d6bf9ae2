package record_test

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/record"
)

const viewed = `
	CREATE TABLE shop.parts (id bigint PRIMARY KEY, name text NOT NULL, price numeric, made date, stock int, pin text, cost numeric);
	INSERT INTO shop.parts SELECT n, 'part ' || n % 2, n + 0.10, date '2026-01-01' + n, n, 'secret', 7 FROM generate_series(1, 250) n;
	INSERT INTO shop.parts VALUES (300, 'odd', NULL, 'infinity', NULL, NULL, NULL), (301, 'odd', 'NaN', NULL, NULL, NULL, NULL);
	CREATE TABLE shop.plans (id bigint PRIMARY KEY, name text);`

const viewable = `
  shop.part:
    table: shop.parts
    operations: [list, get]
    fields: { name: , price: , made: , stock: , pin: { masked: true }, cost: { hidden: true } }
  shop.plan:
    table: shop.plans
    operations: { list: { roles: [OPERATOR] }, get: }
    fields: { name: }
`

func TestAViewReadsWhatTheRoleMayReadAndIsExposed(t *testing.T) {
	w := workshop(t, viewed, viewable)
	w.inGate(t, func(ctx context.Context, tx pgx.Tx) {
		view := w.registry.View(tx, w.maria)
		one, err := view.Get(ctx, "shop.part", "7")
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range []string{"pin", "cost"} {
			if v, there := one.Values[field]; there {
				t.Errorf("%s is in the view: %s", field, v.JSON)
			}
		}
		made, ok := one.Day("made")
		price, is := one.Number("price")
		if !ok || !is || string(record.DayValue(made)) != `"2026-01-08"` || string(record.NumberValue(price)) != `"7.1"` || one.Text("name") != "part 1" || one.Text("stock") != "7" {
			t.Errorf("%v %v %s", made, price, one.Text("name"))
		}
		for where, want := range map[string]int{`{}`: 252, `{"name":"part 1"}`: 125, `{"name":"part 1","stock":7}`: 1, `{"name":"none"}`: 0} {
			all, err := view.All(ctx, "shop.part", object(t, where), 252)
			if err != nil || len(all) != want {
				t.Errorf("%s: %d, %v", where, len(all), err)
			}
		}
		for _, most := range []int{1, 99, 100, 124} {
			if all, err := view.All(ctx, "shop.part", object(t, `{"name":"part 1"}`), most); !errors.Is(err, record.ErrTooMany) {
				t.Errorf("at most %d: %d, %v", most, len(all), err)
			}
		}
	})
}

func TestAViewRefusesWhatTheRoleMayNotRead(t *testing.T) {
	w := workshop(t, viewed, viewable)
	w.inGate(t, func(ctx context.Context, tx pgx.Tx) {
		view := w.registry.View(tx, w.maria)
		for what, err := range map[string]error{
			"a list of others":  second(view.All(ctx, "shop.plan", nil, 1)),
			"no entity":         second(view.Get(ctx, "shop.nothing", "1")),
			"a list of nothing": second(view.All(ctx, "shop.nothing", nil, 1)),
		} {
			if !errors.Is(err, record.ErrUnreadable) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if !errors.Is(second(view.Get(ctx, "shop.plan", "1")), record.ErrGone) {
			t.Error("a record that is not there is read")
		}
		for _, c := range []struct {
			entity string
			fields []string
			want   bool
		}{{"shop.part", []string{"name", "price"}, true}, {"shop.part", []string{"pin"}, false}, {"shop.part", []string{"cost"}, false}, {"shop.plan", nil, false}, {"shop.nothing", nil, false}} {
			if got := view.Reads(c.entity, c.fields...); got != c.want {
				t.Errorf("reads %s %v: %v", c.entity, c.fields, got)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

func TestAValueThatIsNoneIsNeitherDayNorNumber(t *testing.T) {
	w := workshop(t, viewed, viewable)
	for _, key := range []string{"300", "301"} {
		odd := w.mustGet(t, "shop.part", key)
		if day, ok := odd.Day("made"); ok {
			t.Errorf("%s is the day %v", odd.Text("made"), day)
		}
		if n, ok := odd.Number("price"); ok {
			t.Errorf("%s is the number %v", odd.Text("price"), n)
		}
		if _, ok := odd.Number("stock"); ok || odd.Text("stock") != "" {
			t.Error("NULL is a number")
		}
	}
}

func TestDecimalsAreExact(t *testing.T) {
	for text, want := range map[string]string{"480": "480", "0.1": "0.1", "1e-6": "0.000001", "12345678901234567890.12": "12345678901234567890.12", "-2.50": "-2.5", "1/8": "0.125"} {
		n, _ := new(big.Rat).SetString(text)
		if got := record.Decimals(n); got != want {
			t.Errorf("%s is spelled %s", text, got)
		}
	}
	if got := record.TextValue(`a"<b>`); string(got) != `"a\"<b>"` {
		t.Errorf("%s", got)
	}
}
