package e2e

import "testing"

// What the database would do beside the change is on the card, and what it would refuse makes none.
func TestACardShowsWhatElseWouldChange(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.exec(`CREATE TABLE public.badges (id int PRIMARY KEY, role bigint REFERENCES core.roles ON DELETE CASCADE);
		CREATE TABLE public.doors (badge int REFERENCES public.badges ON DELETE CASCADE);
		INSERT INTO public.badges VALUES (1, 7), (2, 7); INSERT INTO public.doors SELECT 1 + n % 2 FROM generate_series(1, 12) n;
		CREATE FUNCTION public.tidy() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.name := initcap(NEW.name); RETURN NEW; END $$;
		CREATE TRIGGER tidy BEFORE UPDATE ON core.roles FOR EACH ROW WHEN (NEW.name <> 'temp') EXECUTE FUNCTION public.tidy()`)
	b := w.person(maria, withScript)
	b.open(w.propose(maria, fields{"entity": "core.role", "operation": "DELETE", "recordId": "7"}))
	b.sees("main", "What else would change", "public.badges", "2 rows deleted", "public.doors", "12 rows deleted")
	b.look("rehearsal")
	b.open(w.rename(maria, "4", "reviewer"))
	b.sees("main", "after: reviewer", "What else would change", "after: Reviewer")
	b.look("rehearsal-value")
	b.press(confirmButton)
	b.sees("main", "Applied. You confirmed it.")
	w.has("Reviewer", nameOfRole4)

	b.open("/conversations")
	b.write(messageBox, "Rename role 4 to temp")
	b.press(sendButton)
	b.sees("main", "There is another record with this value (name).")
}
