// Codes of a sparse input, written as rows.
#pragma once

#include "committee/bins/binning.hpp"

namespace committee {

/// Fills row_begin, entry_feature and entry_code; entries that fall into their feature's zero bin
/// are left out.
void transform_sparse(const Input& input, const BinMapper& mapper, const Context& context,
                      BinnedMatrix& matrix);

}  // namespace committee
