/* SPDX-License-Identifier: Apache-2.0
 *
 * Passes for libascendcl.so of a CANN that came later: what it lacks itself is the stand-in's, which it is linked with. Of its
 * own functions two are such that the list of functions of memory should have and does not.
 */
int aclrtMallocSparkling(void), aclrtGetMallocSparkling(void), aclrtFreeSparklingImpl(void), halMemPoolSparkle(void);
int rtMallocSparkling(void), drvHdcMallocSparkling(void), aclnnCopySparkling(void), sparkling_malloc(void);

/* New. */
int aclrtMallocSparkling(void)
{
    return 0;
}

int halMemPoolSparkle(void)
{
    return 0;
}

/* A question, what libraries call of each other, names that the list has all of, an operator, none of CANN's. */
int aclrtGetMallocSparkling(void)
{
    return 0;
}

int aclrtFreeSparklingImpl(void)
{
    return 0;
}

int rtMallocSparkling(void)
{
    return 0;
}

int drvHdcMallocSparkling(void)
{
    return 0;
}

int aclnnCopySparkling(void)
{
    return 0;
}

int sparkling_malloc(void)
{
    return 0;
}
