package main

import "github.com/spf13/cobra"

func checkCommand() *cobra.Command { return &cobra.Command{Use: "check"} }
func manCommand() *cobra.Command   { return &cobra.Command{Use: "man"} }
func diagnose(err error) error     { return err }
