;; Copies inside one memory. `memory.copy` is a call out of WebAssembly, 25 ns; up to 2 KiB registers are faster.
(module
  (import "memory" "memory" (memory 1 65536 shared))
  (func (export "copy") (param $to i32) (param $from i32) (param $bytes i32)
    (local $end i32) (local $last i32)
    ;; What overlaps is left to the instruction, which knows about it.
    (if (i32.or
          (i32.gt_u (i32.sub (local.get $bytes) (i32.const 64)) (i32.const 1984))
          (i32.or
            (i32.lt_u (i32.sub (local.get $to) (local.get $from)) (local.get $bytes))
            (i32.lt_u (i32.sub (local.get $from) (local.get $to)) (local.get $bytes))))
      (then
        (memory.copy (local.get $to) (local.get $from) (local.get $bytes))
        (return)))
    ;; The last 64 bytes first: the loop then ends before them, wherever that is.
    (local.set $end (i32.sub (i32.add (local.get $from) (local.get $bytes)) (i32.const 64)))
    (local.set $last (i32.sub (i32.add (local.get $to) (local.get $bytes)) (i32.const 64)))
    (v128.store offset=0 (local.get $last) (v128.load offset=0 (local.get $end)))
    (v128.store offset=16 (local.get $last) (v128.load offset=16 (local.get $end)))
    (v128.store offset=32 (local.get $last) (v128.load offset=32 (local.get $end)))
    (v128.store offset=48 (local.get $last) (v128.load offset=48 (local.get $end)))
    (loop $next
      (if (i32.ge_u (local.get $from) (local.get $end)) (then (return)))
      (v128.store offset=0 (local.get $to) (v128.load offset=0 (local.get $from)))
      (v128.store offset=16 (local.get $to) (v128.load offset=16 (local.get $from)))
      (v128.store offset=32 (local.get $to) (v128.load offset=32 (local.get $from)))
      (v128.store offset=48 (local.get $to) (v128.load offset=48 (local.get $from)))
      (local.set $to (i32.add (local.get $to) (i32.const 64)))
      (local.set $from (i32.add (local.get $from) (i32.const 64)))
      (br $next))))
