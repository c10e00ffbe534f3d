;; 64 bits of a page where it lies: nothing is copied, and nothing is written, because the memory is a program's own (Node 20 has no second one).
;; So the keys are in globals, few enough for registers.
;;
;; Each 128 bytes become 128 bits by two NH hashes of 32-bit words with keys that are moved on by a vector (UMAC; Black, Halevi, Krawczyk, Krovetz, Rogaway, 1999): two
;; different stretches have the same with a probability of 2^-64 at most, whatever they are, where the keys are random. Those 128 bits are mixed as words are in
;; XXH64, in two lanes. NH needs one multiplication for four bytes and XXH64 four, of a kind that is slow on many processors: this is as fast as memory.
(module
  (import "memory" "memory" (memory 1 65536 shared))
  (global $k0 (mut v128) (v128.const i64x2 0 0))
  (global $k1 (mut v128) (v128.const i64x2 0 0))
  (global $k2 (mut v128) (v128.const i64x2 0 0))
  (global $k3 (mut v128) (v128.const i64x2 0 0))
  (global $k4 (mut v128) (v128.const i64x2 0 0))
  (global $k5 (mut v128) (v128.const i64x2 0 0))
  (global $k6 (mut v128) (v128.const i64x2 0 0))
  (global $k7 (mut v128) (v128.const i64x2 0 0))
  (global $k8 (mut v128) (v128.const i64x2 0 0))

  ;; One more key; the first is forgotten. There are nine.
  (func (export "addKey") (param $low i64) (param $high i64)
    (global.set $k0 (global.get $k1))
    (global.set $k1 (global.get $k2))
    (global.set $k2 (global.get $k3))
    (global.set $k3 (global.get $k4))
    (global.set $k4 (global.get $k5))
    (global.set $k5 (global.get $k6))
    (global.set $k6 (global.get $k7))
    (global.set $k7 (global.get $k8))
    (global.set $k8 (i64x2.replace_lane 1 (i64x2.splat (local.get $low)) (local.get $high))))

  (func $isZero (param $at i32) (result i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $at) (i32.const 4096)))
    (loop $next
      (if (v128.any_true
            (v128.or
              (v128.or
                (v128.or (v128.load (local.get $at)) (v128.load offset=16 (local.get $at)))
                (v128.or (v128.load offset=32 (local.get $at)) (v128.load offset=48 (local.get $at))))
              (v128.or
                (v128.or (v128.load offset=64 (local.get $at)) (v128.load offset=80 (local.get $at)))
                (v128.or (v128.load offset=96 (local.get $at)) (v128.load offset=112 (local.get $at))))))
        (then (return (i32.const 0))))
      (local.set $at (i32.add (local.get $at) (i32.const 128)))
      (br_if $next (i32.ne (local.get $at) (local.get $end))))
    (i32.const 1))

  ;; The first of the pages from $page up to $end that is zero ($wanted 1), or is not (0); $end: none of them.
  (func (export "find") (param $page i32) (param $end i32) (param $wanted i32) (result i32)
    (block $none
      (loop $next
        (br_if $none (i32.ge_u (local.get $page) (local.get $end)))
        (br_if $none (i32.eq (call $isZero (i32.shl (local.get $page) (i32.const 12))) (local.get $wanted)))
        (local.set $page (i32.add (local.get $page) (i32.const 1)))
        (br $next)))
    (local.get $page))

  (func $merge (param $hash i64) (param $lane i64) (result i64)
    (i64.add
      (i64.mul (i64.xor (local.get $hash) (i64.mul (i64.rotl (i64.mul (local.get $lane) (i64.const 0xC2B2AE3D27D4EB4F)) (i64.const 31)) (i64.const 0x9E3779B185EBCA87))) (i64.const 0x9E3779B185EBCA87))
      (i64.const 0x85EBCA77C2B2AE63)))

  ;; Of the page at that address. 0: it is zero; no other page has that.
  (func (export "hash") (param $at i32) (result i64)
    (local $end i32) (local $a i64) (local $b i64)
    (local $k0 v128) (local $k1 v128) (local $k2 v128) (local $k3 v128) (local $k4 v128)
    (local $k5 v128) (local $k6 v128) (local $k7 v128) (local $k8 v128)
    (local $one v128) (local $other v128) (local $x v128) (local $y v128) (local $p v128) (local $q v128)
    (if (call $isZero (local.get $at)) (then (return (i64.const 0))))
    (local.set $k0 (global.get $k0))
    (local.set $k1 (global.get $k1))
    (local.set $k2 (global.get $k2))
    (local.set $k3 (global.get $k3))
    (local.set $k4 (global.get $k4))
    (local.set $k5 (global.get $k5))
    (local.set $k6 (global.get $k6))
    (local.set $k7 (global.get $k7))
    (local.set $k8 (global.get $k8))
    (local.set $a (i64.const 0x60EA27EEADC0B5D6))
    (local.set $b (i64.const 0xC2B2AE3D27D4EB4F))
    (local.set $end (i32.add (local.get $at) (i32.const 4096)))
    (loop $next
      (local.set $x (v128.load (local.get $at)))
      (local.set $y (v128.load offset=16 (local.get $at)))
      (local.set $p (i32x4.add (local.get $x) (local.get $k0)))
      (local.set $q (i32x4.add (local.get $y) (local.get $k1)))
      (local.set $one (i64x2.add (i64x2.extmul_low_i32x4_u (local.get $p) (local.get $q))
        (i64x2.extmul_high_i32x4_u (local.get $p) (local.get $q))))
      (local.set $p (i32x4.add (local.get $x) (local.get $k1)))
      (local.set $q (i32x4.add (local.get $y) (local.get $k2)))
      (local.set $other (i64x2.add (i64x2.extmul_low_i32x4_u (local.get $p) (local.get $q))
        (i64x2.extmul_high_i32x4_u (local.get $p) (local.get $q))))
      (local.set $x (v128.load offset=32 (local.get $at)))
      (local.set $y (v128.load offset=48 (local.get $at)))
      (local.set $p (i32x4.add (local.get $x) (local.get $k2)))
      (local.set $q (i32x4.add (local.get $y) (local.get $k3)))
      (local.set $one (i64x2.add (i64x2.add (local.get $one) (i64x2.extmul_low_i32x4_u (local.get $p) (local.get $q)))
        (i64x2.extmul_high_i32x4_u (local.get $p) (local.get $q))))
      (local.set $p (i32x4.add (local.get $x) (local.get $k3)))
      (local.set $q (i32x4.add (local.get $y) (local.get $k4)))
      (local.set $other (i64x2.add (i64x2.add (local.get $other) (i64x2.extmul_low_i32x4_u (local.get $p) (local.get $q)))
        (i64x2.extmul_high_i32x4_u (local.get $p) (local.get $q))))
      (local.set $x (v128.load offset=64 (local.get $at)))
      (local.set $y (v128.load offset=80 (local.get $at)))
      (local.set $p (i32x4.add (local.get $x) (local.get $k4)))
      (local.set $q (i32x4.add (local.get $y) (local.get $k5)))
      (local.set $one (i64x2.add (i64x2.add (local.get $one) (i64x2.extmul_low_i32x4_u (local.get $p) (local.get $q)))
        (i64x2.extmul_high_i32x4_u (local.get $p) (local.get $q))))
      (local.set $p (i32x4.add (local.get $x) (local.get $k5)))
      (local.set $q (i32x4.add (local.get $y) (local.get $k6)))
      (local.set $other (i64x2.add (i64x2.add (local.get $other) (i64x2.extmul_low_i32x4_u (local.get $p) (local.get $q)))
        (i64x2.extmul_high_i32x4_u (local.get $p) (local.get $q))))
      (local.set $x (v128.load offset=96 (local.get $at)))
      (local.set $y (v128.load offset=112 (local.get $at)))
      (local.set $p (i32x4.add (local.get $x) (local.get $k6)))
      (local.set $q (i32x4.add (local.get $y) (local.get $k7)))
      (local.set $one (i64x2.add (i64x2.add (local.get $one) (i64x2.extmul_low_i32x4_u (local.get $p) (local.get $q)))
        (i64x2.extmul_high_i32x4_u (local.get $p) (local.get $q))))
      (local.set $p (i32x4.add (local.get $x) (local.get $k7)))
      (local.set $q (i32x4.add (local.get $y) (local.get $k8)))
      (local.set $other (i64x2.add (i64x2.add (local.get $other) (i64x2.extmul_low_i32x4_u (local.get $p) (local.get $q)))
        (i64x2.extmul_high_i32x4_u (local.get $p) (local.get $q))))
      (local.set $a
        (i64.mul
          (i64.rotl
            (i64.add (local.get $a)
              (i64.mul
                (i64.add (i64x2.extract_lane 0 (local.get $one)) (i64x2.extract_lane 1 (local.get $one)))
                (i64.const 0xC2B2AE3D27D4EB4F)))
            (i64.const 31))
          (i64.const 0x9E3779B185EBCA87)))
      (local.set $b
        (i64.mul
          (i64.rotl
            (i64.add (local.get $b)
              (i64.mul
                (i64.add (i64x2.extract_lane 0 (local.get $other)) (i64x2.extract_lane 1 (local.get $other)))
                (i64.const 0xC2B2AE3D27D4EB4F)))
            (i64.const 31))
          (i64.const 0x9E3779B185EBCA87)))
      (local.set $at (i32.add (local.get $at) (i32.const 128)))
      (br_if $next (i32.ne (local.get $at) (local.get $end))))
    (local.set $a
      (call $merge
        (call $merge
          (i64.add (i64.rotl (local.get $a) (i64.const 1)) (i64.rotl (local.get $b) (i64.const 7)))
          (local.get $a))
        (local.get $b)))
    (local.set $a
      (i64.mul (i64.xor (local.get $a) (i64.shr_u (local.get $a) (i64.const 33))) (i64.const 0xC2B2AE3D27D4EB4F)))
    (local.set $a
      (i64.mul (i64.xor (local.get $a) (i64.shr_u (local.get $a) (i64.const 29))) (i64.const 0x165667B19E3779F9)))
    (local.set $a (i64.xor (local.get $a) (i64.shr_u (local.get $a) (i64.const 32))))
    (select (i64.const 1) (local.get $a) (i64.eqz (local.get $a)))))
