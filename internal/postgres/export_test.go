package postgres

import "context"

// MigrateDown takes every migration back.
func MigrateDown(ctx context.Context, ownerURL string) error {
	db, err := asOwner(ownerURL)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	provider, err := provide(db)
	if err != nil {
		return err
	}
	_, err = provider.DownTo(ctx, 0)
	return err
}
