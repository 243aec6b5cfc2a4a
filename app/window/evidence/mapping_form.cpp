#include "app/window/evidence/mapping_form.h"

#include "hardware/files/catalogue.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QScrollBar>
#include <QVBoxLayout>

#include <algorithm>

namespace orrery::app {

namespace {

QString column(const std::string& name) {
    return QLatin1Char('{') + ui::qs(name) + QLatin1Char('}');
}

/// A column's name as arithmetic takes it.
QString term(const std::string& name) {
    const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
    });
    return plain && !std::isdigit(static_cast<unsigned char>(name.front()))
               ? ui::qs(name)
               : QLatin1Char('`') + ui::qs(name) + QLatin1Char('`');
}

}  // namespace

MappingForm::MappingForm(QWidget* parent) : QScrollArea(parent) {
    setObjectName(QStringLiteral("mapping.form"));
    setAccessibleName(tr("Which column says what"));
    setToolTip(
        tr("Choose a column or a word, or write arithmetic over columns: B * M, 2 * m * n * k / tflops * 1e-12"));
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
}

std::vector<KernelKind> MappingForm::kindsOf(const TableSample& sample, const ColumnMapping& mapping) {
    std::vector<KernelKind> kinds;
    const auto add = [&](std::string_view word) {
        const auto kind = kernelKind(word);
        if (kind && std::find(kinds.begin(), kinds.end(), *kind) == kinds.end()) kinds.push_back(*kind);
    };
    const auto said = mappedTo(mapping, "kind");
    if (said.starts_with('{')) {
        for (const auto& word : wordsOf(sample, said.substr(1, said.size() - 2))) add(word);
    } else {
        add(said);
    }
    for (const auto& word : mapping.words) {
        if (word.field == "kind") add(word.value);
    }
    return kinds;
}

std::vector<std::pair<std::string, std::string>> MappingForm::foreignWords(const TableSample& sample,
                                                                           const ColumnMapping& mapping) {
    std::vector<std::pair<std::string, std::string>> foreign;
    for (const auto& [name, value] : mapping.fields) {
        const KernelField* field = findKernelField(name);
        if (!field || !field->setWord || !value.starts_with('{')) continue;
        const auto from = value.substr(1, value.size() - 2);
        const auto words = wordsOf(sample, from);
        const bool known = std::all_of(words.begin(), words.end(), [&](const std::string& word) {
            KernelDraft scratch;
            return field->setWord(scratch, word);
        });
        if (!known) foreign.emplace_back(from, name);
    }
    return foreign;
}

QStringList MappingForm::choicesOf(std::string_view key) const {
    QStringList choices;
    const KernelField* field = findKernelField(key);
    const bool words = (field && field->setWord) || key == "device";
    if (field && field->setWord) {
        for (const QString& word : ui::qs(field->words).split(QStringLiteral(", ")))
            if (word != QStringLiteral("…")) choices << word;
    }
    for (const auto& name : sample_->columns) choices << (words ? column(name) : term(name));
    if (key == "device")
        for (const CatalogueEntry& entry : hardwareCatalogue()) choices << ui::qs(entry.id);
    return choices;
}

QComboBox* MappingForm::addRow(QFormLayout* form, std::string_view key, const QString& label, const QString& meaning,
                               const QStringList& choices) {
    auto* cell = new QWidget(widget());
    auto* column = new QVBoxLayout(cell);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* box = new QComboBox(cell);
    const QString id = ui::qs(key);
    box->setObjectName(QStringLiteral("mapping.") + id);
    box->setAccessibleName(label);
    box->setToolTip(meaning);
    box->setEditable(true);
    box->setInsertPolicy(QComboBox::NoInsert);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->lineEdit()->setObjectName(QStringLiteral("mapping.") + id + QStringLiteral(".text"));
    box->lineEdit()->setAccessibleName(label);
    box->lineEdit()->setToolTip(meaning);
    box->addItem(QString());
    box->addItems(choices);
    const auto set = ui::qs(mappedTo(*mapping_, key));
    box->setEditText(set);
    box->lineEdit()->setCursorPosition(0);
    column->addWidget(box);
    if (const auto wrong = checkMapped(*mapping_, key, *sample_)) {
        auto* why = new ui::Label(ui::windowText(wrong->message), ui::FontRole::Small, ui::Tone::Bad, cell);
        why->setObjectName(QStringLiteral("mapping.") + id + QStringLiteral(".wrong"));
        why->setWordWrap(true);
        why->setToolTip(ui::qs(toText(*wrong)));
        column->addWidget(why);
    }
    form->addRow(label, cell);
    const auto tell = [this, box, id, set] {
        if (box->currentText().trimmed() != set) emit changed(id, box->currentText().trimmed());
    };
    connect(box, &QComboBox::activated, this, tell);
    connect(box->lineEdit(), &QLineEdit::editingFinished, this, tell);
    return box;
}

void MappingForm::addWords(QFormLayout* form) {
    for (const auto& [from, name] : foreignWords(*sample_, *mapping_)) {
        const KernelField* field = findKernelField(name);
        form->addRow(new ui::SectionHeader(tr("What %1 means for %2").arg(ui::qs(from), ui::qs(name)), widget()));
        int number = 0;
        for (const auto& word : wordsOf(*sample_, from)) {
            auto* box = new QComboBox(widget());
            box->setObjectName(QStringLiteral("mapping.%1.word%2").arg(ui::qs(name)).arg(number++));
            box->setAccessibleName(tr("%1 in %2").arg(ui::qs(word), ui::qs(from)));
            box->setToolTip(tr("Rows with an unknown word are not read"));
            box->setEditable(true);
            box->setInsertPolicy(QComboBox::NoInsert);
            box->lineEdit()->setObjectName(box->objectName() + QStringLiteral(".text"));
            box->lineEdit()->setAccessibleName(box->accessibleName());
            box->lineEdit()->setToolTip(box->toolTip());
            box->addItem(QString());
            for (const QString& choice : ui::qs(field->words).split(QStringLiteral(", ")))
                if (choice != QStringLiteral("…")) box->addItem(choice);
            QString meant;
            for (const auto& said : mapping_->words)
                if (said.column == from && said.word == word && said.field == name) meant = ui::qs(said.value);
            box->setEditText(meant);
            form->addRow(ui::qs(word.empty() ? "(empty)" : word.substr(0, 24)), box);
            const auto tell = [this, box, meant, from = ui::qs(from), word = ui::qs(word), name = ui::qs(name)] {
                if (box->currentText().trimmed() != meant)
                    emit wordMeant(from, word, name, box->currentText().trimmed());
            };
            connect(box, &QComboBox::activated, this, tell);
            connect(box->lineEdit(), &QLineEdit::editingFinished, this, tell);
        }
    }
}

void MappingForm::show(const TableSample& sample, const ColumnMapping& mapping) {
    sample_ = &sample;
    mapping_ = &mapping;
    const int unit = ui::Theme::instance().unit();
    const QString focused = widget() && widget()->focusWidget() ? widget()->focusWidget()->objectName() : QString();
    const int scrolled = verticalScrollBar()->value();
    auto* inside = new QWidget(this);
    inside->setObjectName(QStringLiteral("mapping.fields"));
    auto* form = new QFormLayout(inside);
    form->setContentsMargins(0, 0, unit, unit);
    form->setVerticalSpacing(unit / 2);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    // A combo box that was just used must outlive its own signal.
    if (QWidget* old = takeWidget()) old->deleteLater();
    setWidget(inside);
    const auto row = [&](const char* key, const QString& label, const QString& meaning) {
        return addRow(form, key, label, meaning, choicesOf(key));
    };
    form->addRow(new ui::SectionHeader(tr("What was measured"), inside));
    row("kind", tr("Kind"), tr("One kind for all rows, or the column that says it"));
    row("device", tr("Device"), tr("A device of the catalogue, or the column that names it"));
    row("time", tr("Time"), tr("The column of the time, or arithmetic over columns"));
    addRow(form, "unit", tr("Unit"), tr("Of the time"), {"s", "ms", "us", "ns"});
    row("noise", tr("Noise"), tr("Relative standard deviation, for example std / mean; may stay empty"));
    row("only", tr("Only rows"), tr("Rows where this arithmetic is not above zero are not read; may stay empty"));
    const auto kinds = kindsOf(sample, mapping);
    std::vector<std::string_view> needed, possible;
    const auto join = [](std::vector<std::string_view>& to, const std::vector<std::string_view>& from) {
        for (const auto field : from)
            if (std::find(to.begin(), to.end(), field) == to.end()) to.push_back(field);
    };
    for (const KernelKind kind : kinds) {
        join(needed, fieldsOfKind(kind).needed);
        join(possible, fieldsOfKind(kind).possible);
    }
    std::erase_if(possible, [&](auto field) { return std::find(needed.begin(), needed.end(), field) != needed.end(); });
    const auto fields = [&](const QString& title, const std::vector<std::string_view>& list) {
        if (list.empty()) return;
        form->addRow(new ui::SectionHeader(title, inside));
        for (const auto name : list) {
            const KernelField* field = findKernelField(name);
            const QString words = field->words.empty() ? QString() : QStringLiteral(": ") + ui::qs(field->words);
            addRow(form, name, ui::qs(name), ui::qs(field->meaning) + words, choicesOf(name));
        }
    };
    fields(kinds.size() == 1 ? tr("The kernel") : tr("The kernels"), needed);
    addWords(form);
    fields(tr("If the table says it"), possible);
    form->addRow(new ui::SectionHeader(tr("Where it is from"), inside));
    addRow(form, "name", tr("Name"), tr("Name of the table in lists"), {});
    addRow(form, "source", tr("Source"), tr("Who measured it, and where it is published"), {});
    addRow(form, "licence", tr("Licence"), tr("The licence of the table"), {"CC0-1.0", "MIT", "Apache-2.0"});
    addRow(form, "software", tr("Software"), tr("Libraries and versions that ran the kernels"), {});
    addRow(form, "truth", tr("Truth"), tr("How the times came to be"), {"measured", "summed", "simulated"});
    inside->show();
    verticalScrollBar()->setValue(scrolled);
    if (!focused.isEmpty())
        if (auto* again = inside->findChild<QWidget*>(focused)) again->setFocus();
}

}  // namespace orrery::app
