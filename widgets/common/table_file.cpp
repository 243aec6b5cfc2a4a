#include "widgets/common/table_file.h"

#include "base/text/latex_table.h"
#include "widgets/common/picture_file.h"

namespace orrery::ui {

namespace {

bool isLatex(const QString& file) {
    return file.endsWith(QLatin1String(".tex"), Qt::CaseInsensitive);
}

}  // namespace

bool isTableFile(const QString& file) {
    return isLatex(file) || file.endsWith(QLatin1String(".csv"), Qt::CaseInsensitive);
}

QString writeTable(const QString& file, std::string_view csv) {
    return writeText(file, isLatex(file) ? QByteArray::fromStdString(latexTable(csv))
                                         : QByteArray(csv.data(), static_cast<qsizetype>(csv.size())));
}

}  // namespace orrery::ui
