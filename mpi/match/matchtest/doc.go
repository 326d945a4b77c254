// Package matchtest helps to test the matcher. It makes calls in a line each. It makes programs of
// which it is known who waited for whom (Model).
package matchtest
