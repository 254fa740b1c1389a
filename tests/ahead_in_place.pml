/* In place, SINGLE_PASS_AHEAD stores over a tile that another group sums, without a fence: see gpuscan_publish_ahead
   and gpuscan_sum_await of kernels.cl.inc. tests/test_look_back.sh gives it to Spin.

   Each lane's load and store may be performed in either order, unless the store depends on what the lane itself loaded.
   That is the memory model of PTX for weak and relaxed accesses: only a dependency within a thread keeps a value from
   coming out of thin air, and bar.sync orders nothing after a relaxed load. As a litmus test, which must not end with
   %r1 = 2 (data is 1, ready is 0; the summing thread, then two that scan):

       ld.global.u32 %r1, [data];              |  ld.relaxed.gpu.global.u32 %r2, [ready];
       fence.acq_rel.gpu;                      |  setp.ne.u32 %p, %r2, 0;
       st.relaxed.gpu.global.u32 [ready], %r1; |  @%p st.global.u32 [data], 2;

   With FAULT_ONE_POLLER the second thread's load and setp are another's, and "bar.sync 0;" stands in their place:
   then it may. Checked: the sum that is published is of what lay there before.

   Two groups may publish a tile's sum in a word of 128 bits. PTX may perform such a store as two of 64 bits, each with
   the tag, in either order. With FAULT_TWO_TAGS one group's tag is higher, and the halves may differ for good: then the
   sum reads as empty, though the tile is overwritten. Checked: both halves have one tag in the end. */
#define LANES 2

byte data[LANES]; /* 0: the elements; 1: overwritten */
bool published;
byte loaded;
byte sum;

/* A lane of the group that sums. Only the sum of all loads can be published: a data dependency. */
proctype summer(byte lane) {
  atomic {
    sum = sum + data[lane];
    loaded++
  }
  atomic {
    loaded == LANES && !published -> published = 1;
    assert(sum == 0)
  }
}

/* A lane of the group that scans. */
proctype scanner(byte lane) {
#ifdef FAULT_ONE_POLLER
  if
  :: lane == 0 -> published
  :: else /* its store may be performed before the barrier that it stands behind */
  fi;
#else
  published;
#endif
  data[lane] = 1
}

byte half[2]; /* the tag in each half of the word; 0: empty */
byte stored;

/* The work-item that stores a group's sum. */
proctype storer(byte tag) {
  if
  :: half[0] = tag;
     half[1] = tag
  :: half[1] = tag;
     half[0] = tag
  fi;
  stored++
}

init {
  byte i;
  atomic {
    for (i : 0 .. LANES - 1) {
      run summer(i);
      run scanner(i)
    }
    run storer(1);
#ifdef FAULT_TWO_TAGS
    run storer(2)
#else
    run storer(1)
#endif
  }
  stored == 2;
  assert(half[0] == half[1])
}
