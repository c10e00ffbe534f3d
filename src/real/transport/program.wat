;; Copies inside the memory of a C program.
(module
  (import "program" "memory" (memory 1 65536 shared))
  (func (export "copy") (param $to i32) (param $from i32) (param $bytes i32)
    (memory.copy (local.get $to) (local.get $from) (local.get $bytes))))
