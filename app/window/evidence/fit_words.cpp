#include "app/window/evidence/fit_words.h"

#include "widgets/common/text.h"
#include "widgets/common/units_text.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>

namespace orrery::app {

namespace {

constexpr std::string_view unchanged = "as it was";  // SectionOutcome::kept

QString words(const char* text) {
    return QCoreApplication::translate("Fit", text);
}

QString outcomeText(const SectionOutcome& one) {
    QString text =
        QStringLiteral("%1 %2 %3: ").arg(ui::qs(one.device), ui::qs(one.kind), ui::qs(one.variant)).simplified();
    text += one.start.empty() ? words(" own fit") : words(" kept: %1").arg(ui::qs(one.kept));
    if (one.before >= 0 && one.after >= 0 && one.kept != unchanged)
        text += words(", error %1 before, %2 after").arg(ui::percentText(one.before), ui::percentText(one.after));
    return text;
}

}  // namespace

QString fitText(const CalibrateResult& result) {
    const auto& sections = result.sections;
    const auto same = std::ranges::count(sections, unchanged, &SectionOutcome::kept);
    QString text;
    if (!sections.empty() && same == static_cast<std::ptrdiff_t>(sections.size())) {
        text = QCoreApplication::translate("Fit", "Not changed: no fit did better on %n row(s)", nullptr,
                                           static_cast<int>(result.trainingRows));
    } else {
        text =
            QCoreApplication::translate("Fit", "Fitted on %n row(s)", nullptr, static_cast<int>(result.trainingRows));
        constexpr std::size_t most = 3;
        QStringList outcomes;
        for (std::size_t i = 0; i < std::min(sections.size(), most); ++i) outcomes << outcomeText(sections[i]);
        if (sections.size() > most) outcomes << words("and %1 more").arg(sections.size() - most);
        if (!outcomes.isEmpty()) text += QStringLiteral(". ") + outcomes.join(QStringLiteral("; "));
    }
    for (const Diagnostic& warning : result.warnings) text += QStringLiteral(". ") + ui::qs(warning.message);
    return text;
}

}  // namespace orrery::app
