;; XXH64 of stretches of a memory, and pages put together. XXH64 as in https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md; the
;; state of a hash under way is in globals, because the memory may be the program's own (Node 20 has no second one), which must not be
;; written: `compact`, which writes, is for a memory of ours.
(module
  (import "memory" "memory" (memory 1 65536 shared))
  (global $seed (mut i64) (i64.const 0))
  (global $a (mut i64) (i64.const 0))
  (global $b (mut i64) (i64.const 0))
  (global $c (mut i64) (i64.const 0))
  (global $d (mut i64) (i64.const 0))
  (global $bytes (mut i64) (i64.const 0))

  (func $begin (export "begin") (param $seed i64)
    (global.set $seed (local.get $seed))
    (global.set $a (i64.add (local.get $seed) (i64.const 0x60EA27EEADC0B5D6)))
    (global.set $b (i64.add (local.get $seed) (i64.const 0xC2B2AE3D27D4EB4F)))
    (global.set $c (local.get $seed))
    (global.set $d (i64.sub (local.get $seed) (i64.const 0x9E3779B185EBCA87)))
    (global.set $bytes (i64.const 0)))

  ;; $bytes is a multiple of 32.
  (func $update (export "update") (param $at i32) (param $bytes i32)
    (local $end i32) (local $a i64) (local $b i64) (local $c i64) (local $d i64)
    (if (i32.eqz (local.get $bytes)) (then (return)))
    (global.set $bytes (i64.add (global.get $bytes) (i64.extend_i32_u (local.get $bytes))))
    (local.set $end (i32.add (local.get $at) (local.get $bytes)))
    (local.set $a (global.get $a))
    (local.set $b (global.get $b))
    (local.set $c (global.get $c))
    (local.set $d (global.get $d))
    (loop $next
      (local.set $a (i64.mul (i64.rotl (i64.add (local.get $a)
        (i64.mul (i64.load (local.get $at)) (i64.const 0xC2B2AE3D27D4EB4F))) (i64.const 31)) (i64.const 0x9E3779B185EBCA87)))
      (local.set $b (i64.mul (i64.rotl (i64.add (local.get $b)
        (i64.mul (i64.load offset=8 (local.get $at)) (i64.const 0xC2B2AE3D27D4EB4F))) (i64.const 31)) (i64.const 0x9E3779B185EBCA87)))
      (local.set $c (i64.mul (i64.rotl (i64.add (local.get $c)
        (i64.mul (i64.load offset=16 (local.get $at)) (i64.const 0xC2B2AE3D27D4EB4F))) (i64.const 31)) (i64.const 0x9E3779B185EBCA87)))
      (local.set $d (i64.mul (i64.rotl (i64.add (local.get $d)
        (i64.mul (i64.load offset=24 (local.get $at)) (i64.const 0xC2B2AE3D27D4EB4F))) (i64.const 31)) (i64.const 0x9E3779B185EBCA87)))
      (local.set $at (i32.add (local.get $at) (i32.const 32)))
      (br_if $next (i32.ne (local.get $at) (local.get $end))))
    (global.set $a (local.get $a))
    (global.set $b (local.get $b))
    (global.set $c (local.get $c))
    (global.set $d (local.get $d)))

  (func $round (param $lane i64) (result i64)
    (i64.mul (i64.rotl (i64.mul (local.get $lane) (i64.const 0xC2B2AE3D27D4EB4F)) (i64.const 31)) (i64.const 0x9E3779B185EBCA87)))

  (func $merge (param $hash i64) (param $lane i64) (result i64)
    (i64.add
      (i64.mul (i64.xor (local.get $hash) (call $round (local.get $lane))) (i64.const 0x9E3779B185EBCA87))
      (i64.const 0x85EBCA77C2B2AE63)))

  ;; The last 0 to 31 bytes, and the hash of everything since $begin.
  (func $finish (export "finish") (param $at i32) (param $bytes i32) (result i64)
    (local $hash i64) (local $end i32)
    (local.set $end (i32.add (local.get $at) (local.get $bytes)))
    (if (i64.eqz (global.get $bytes))
      (then (local.set $hash (i64.add (global.get $seed) (i64.const 0x27D4EB2F165667C5))))
      (else
        (local.set $hash
          (i64.add
            (i64.add (i64.rotl (global.get $a) (i64.const 1)) (i64.rotl (global.get $b) (i64.const 7)))
            (i64.add (i64.rotl (global.get $c) (i64.const 12)) (i64.rotl (global.get $d) (i64.const 18)))))
        (local.set $hash (call $merge (local.get $hash) (global.get $a)))
        (local.set $hash (call $merge (local.get $hash) (global.get $b)))
        (local.set $hash (call $merge (local.get $hash) (global.get $c)))
        (local.set $hash (call $merge (local.get $hash) (global.get $d)))))
    (local.set $hash
      (i64.add (local.get $hash) (i64.add (global.get $bytes) (i64.extend_i32_u (local.get $bytes)))))
    (block $less
      (loop $words
        (br_if $less (i32.lt_u (i32.sub (local.get $end) (local.get $at)) (i32.const 8)))
        (local.set $hash
          (i64.add
            (i64.mul
              (i64.rotl (i64.xor (local.get $hash) (call $round (i64.load (local.get $at)))) (i64.const 27))
              (i64.const 0x9E3779B185EBCA87))
            (i64.const 0x85EBCA77C2B2AE63)))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br $words)))
    (if (i32.ge_u (i32.sub (local.get $end) (local.get $at)) (i32.const 4))
      (then
        (local.set $hash
          (i64.add
            (i64.mul
              (i64.rotl
                (i64.xor (local.get $hash) (i64.mul (i64.load32_u (local.get $at)) (i64.const 0x9E3779B185EBCA87)))
                (i64.const 23))
              (i64.const 0xC2B2AE3D27D4EB4F))
            (i64.const 0x165667B19E3779F9)))
        (local.set $at (i32.add (local.get $at) (i32.const 4)))))
    (block $none
      (loop $single
        (br_if $none (i32.eq (local.get $at) (local.get $end)))
        (local.set $hash
          (i64.mul
            (i64.rotl
              (i64.xor (local.get $hash) (i64.mul (i64.load8_u (local.get $at)) (i64.const 0x27D4EB2F165667C5)))
              (i64.const 11))
            (i64.const 0x9E3779B185EBCA87)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $single)))
    (local.set $hash
      (i64.mul (i64.xor (local.get $hash) (i64.shr_u (local.get $hash) (i64.const 33))) (i64.const 0xC2B2AE3D27D4EB4F)))
    (local.set $hash
      (i64.mul (i64.xor (local.get $hash) (i64.shr_u (local.get $hash) (i64.const 29))) (i64.const 0x165667B19E3779F9)))
    (i64.xor (local.get $hash) (i64.shr_u (local.get $hash) (i64.const 32))))

  ;; Moves the pages of the set at $set to the beginning of the memory, one behind the other; how many bytes they are.
  (func (export "compact") (param $set i32) (result i32)
    (local $bits i64) (local $from i32) (local $to i32)
    (local.set $bits (i64.load (local.get $set)))
    (block $none
      (loop $next
        (br_if $none (i64.eqz (local.get $bits)))
        (local.set $from (i32.shl (i32.wrap_i64 (i64.ctz (local.get $bits))) (i32.const 12)))
        (if (i32.ne (local.get $from) (local.get $to))
          (then (memory.copy (local.get $to) (local.get $from) (i32.const 4096))))
        (local.set $to (i32.add (local.get $to) (i32.const 4096)))
        (local.set $bits (i64.and (local.get $bits) (i64.sub (local.get $bits) (i64.const 1))))
        (br $next)))
    (local.get $to)))
