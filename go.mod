module github.com/countersign/countersign

go 1.26.0

require (
	github.com/gofrs/uuid/v5 v5.2.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/pgx/v5 v5.13.0 // indirect
	go.jetify.com/typeid v1.3.0 // indirect
	golang.org/x/text v0.41.0 // indirect
)
