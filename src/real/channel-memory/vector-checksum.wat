;; The sixteen lanes of `wordChecksum` (core/base/word-checksum.ts) as four vectors. One function: V8 11.3 does not put calls in line, and
;; vectors would leave their registers for each.
(module
  (import "checksum" "memory" (memory 1))

  ;; Passes so many bytes from the second 64 on, a multiple of 64. The lanes stand in the first 64.
  (func (export "pass") (param $bytes i32)
    (local $at i32) (local $end i32) (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (local $mixed v128) (local $multiplier v128)
    (local.set $at (i32.const 64))
    (local.set $end (i32.add (local.get $bytes) (i32.const 64)))
    (local.set $multiplier (i32x4.splat (i32.const 0x9e3779b1)))
    (local.set $a (v128.load (i32.const 0)))
    (local.set $b (v128.load (i32.const 16)))
    (local.set $c (v128.load (i32.const 32)))
    (local.set $d (v128.load (i32.const 48)))
    (loop $next
      (local.set $mixed (i32x4.mul (v128.xor (local.get $a) (v128.load (local.get $at))) (local.get $multiplier)))
      (local.set $a (v128.or (i32x4.shl (local.get $mixed) (i32.const 15)) (i32x4.shr_u (local.get $mixed) (i32.const 17))))
      (local.set $mixed (i32x4.mul (v128.xor (local.get $b) (v128.load offset=16 (local.get $at))) (local.get $multiplier)))
      (local.set $b (v128.or (i32x4.shl (local.get $mixed) (i32.const 15)) (i32x4.shr_u (local.get $mixed) (i32.const 17))))
      (local.set $mixed (i32x4.mul (v128.xor (local.get $c) (v128.load offset=32 (local.get $at))) (local.get $multiplier)))
      (local.set $c (v128.or (i32x4.shl (local.get $mixed) (i32.const 15)) (i32x4.shr_u (local.get $mixed) (i32.const 17))))
      (local.set $mixed (i32x4.mul (v128.xor (local.get $d) (v128.load offset=48 (local.get $at))) (local.get $multiplier)))
      (local.set $d (v128.or (i32x4.shl (local.get $mixed) (i32.const 15)) (i32x4.shr_u (local.get $mixed) (i32.const 17))))
      (local.set $at (i32.add (local.get $at) (i32.const 64)))
      (br_if $next (i32.lt_u (local.get $at) (local.get $end))))
    (v128.store (i32.const 0) (local.get $a))
    (v128.store (i32.const 16) (local.get $b))
    (v128.store (i32.const 32) (local.get $c))
    (v128.store (i32.const 48) (local.get $d))))
