// Package matchtest helps to test the matcher: it makes calls in a line each, and programs of which
// it is known who waited for whom (Model).
package matchtest
