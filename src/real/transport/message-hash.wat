;; The hash by which replicas compare messages, as `bytesHash` of message-hash.ts has it: 32 bytes a step in two vectors.
(module
  (import "memory" "memory" (memory 1 65536 shared))

  (func $added (param $sum i32) (param $word i32) (result i32)
    (i32.mul
      (i32.rotl (i32.add (local.get $sum) (i32.mul (local.get $word) (i32.const 0x735a2d97))) (i32.const 13))
      (i32.const 0x9e3779b1)))

  ;; The sign of a NaN is chance.
  (func $signless (param $word i32) (result i32)
    (local $rest i32)
    (local.set $rest (i32.and (local.get $word) (i32.const 0x7fffffff)))
    (select (local.get $rest) (local.get $word)
      (i32.or (i32.eq (local.get $rest) (i32.const 0x7ff80000)) (i32.eq (local.get $rest) (i32.const 0x7fc00000)))))

  (func (export "hash") (param $at i32) (param $bytes i32) (result i32)
    (local $sum i32) (local $end i32) (local $wide i32)
    (local $a v128) (local $b v128) (local $one v128) (local $two v128)
    (local $sign v128) (local $double v128) (local $float v128) (local $spread v128) (local $factor v128)
    (local.set $sum (local.get $bytes))
    (local.set $end (i32.add (local.get $at) (local.get $bytes)))
    (local.set $wide (i32.sub (local.get $end) (i32.and (local.get $bytes) (i32.const 31))))
    (if (i32.ne (local.get $at) (local.get $wide))
      (then
        (local.set $a (v128.const i32x4 0x811c9dc5 0x2545f491 0x5bd1e995 0x1b873593))
        (local.set $b (v128.const i32x4 0x165667b1 0x27d4eb2f 0x3c6ef372 0x510e527f))
        (local.set $sign (i32x4.splat (i32.const 0x80000000)))
        (local.set $double (i32x4.splat (i32.const 0xfff00000)))
        (local.set $float (i32x4.splat (i32.const 0xff800000)))
        (local.set $spread (i32x4.splat (i32.const 0x735a2d97)))
        (local.set $factor (i32x4.splat (i32.const 0x9e3779b1)))
        (loop $next
          (local.set $one (v128.load (local.get $at)))
          (local.set $two (v128.load offset=16 (local.get $at)))
          ;; Where twice the word is twice that of a NaN, its highest bit is taken out.
          (local.set $one (v128.andnot (local.get $one)
            (v128.and (local.get $sign)
              (v128.or
                (i32x4.eq (i32x4.shl (local.get $one) (i32.const 1)) (local.get $double))
                (i32x4.eq (i32x4.shl (local.get $one) (i32.const 1)) (local.get $float))))))
          (local.set $two (v128.andnot (local.get $two)
            (v128.and (local.get $sign)
              (v128.or
                (i32x4.eq (i32x4.shl (local.get $two) (i32.const 1)) (local.get $double))
                (i32x4.eq (i32x4.shl (local.get $two) (i32.const 1)) (local.get $float))))))
          (local.set $a (i32x4.add (local.get $a)
            (i32x4.mul (local.get $one) (local.get $spread))))
          (local.set $b (i32x4.add (local.get $b)
            (i32x4.mul (local.get $two) (local.get $spread))))
          (local.set $a (i32x4.mul
            (v128.or (i32x4.shl (local.get $a) (i32.const 13)) (i32x4.shr_u (local.get $a) (i32.const 19)))
            (local.get $factor)))
          (local.set $b (i32x4.mul
            (v128.or (i32x4.shl (local.get $b) (i32.const 13)) (i32x4.shr_u (local.get $b) (i32.const 19)))
            (local.get $factor)))
          (local.set $at (i32.add (local.get $at) (i32.const 32)))
          (br_if $next (i32.ne (local.get $at) (local.get $wide))))
        (local.set $sum (call $added (local.get $sum) (i32x4.extract_lane 0 (local.get $a))))
        (local.set $sum (call $added (local.get $sum) (i32x4.extract_lane 1 (local.get $a))))
        (local.set $sum (call $added (local.get $sum) (i32x4.extract_lane 2 (local.get $a))))
        (local.set $sum (call $added (local.get $sum) (i32x4.extract_lane 3 (local.get $a))))
        (local.set $sum (call $added (local.get $sum) (i32x4.extract_lane 0 (local.get $b))))
        (local.set $sum (call $added (local.get $sum) (i32x4.extract_lane 1 (local.get $b))))
        (local.set $sum (call $added (local.get $sum) (i32x4.extract_lane 2 (local.get $b))))
        (local.set $sum (call $added (local.get $sum) (i32x4.extract_lane 3 (local.get $b))))))
    (block $noWord
      (loop $nextWord
        (br_if $noWord (i32.lt_u (i32.sub (local.get $end) (local.get $at)) (i32.const 4)))
        (local.set $sum (call $added (local.get $sum) (call $signless (i32.load align=1 (local.get $at)))))
        (local.set $at (i32.add (local.get $at) (i32.const 4)))
        (br $nextWord)))
    (block $noByte
      (loop $nextByte
        (br_if $noByte (i32.eq (local.get $at) (local.get $end)))
        (local.set $sum (call $added (local.get $sum) (i32.load8_u (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $nextByte)))
    ;; splitmix32
    (local.set $sum (i32.mul (i32.xor (local.get $sum) (i32.shr_u (local.get $sum) (i32.const 16))) (i32.const 0x21f0aaad)))
    (local.set $sum (i32.mul (i32.xor (local.get $sum) (i32.shr_u (local.get $sum) (i32.const 15))) (i32.const 0x735a2d97)))
    (i32.xor (local.get $sum) (i32.shr_u (local.get $sum) (i32.const 15)))))
