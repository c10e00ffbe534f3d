;; Copies between two memories, where V8 knows modules with more than one (Node 22 and later).
(module
  (import "a" "memory" (memory $a 1 65536 shared))
  (import "b" "memory" (memory $b 1 65536 shared))
  (func (export "aToB") (param $to i32) (param $from i32) (param $bytes i32)
    (memory.copy $b $a (local.get $to) (local.get $from) (local.get $bytes))))
