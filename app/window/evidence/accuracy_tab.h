#pragma once

// The judge page: methods compared on rows that chips choose. Error against cost, methods by scenario, a sortable
// table, residuals, the worst rows.

#include "app/window/evidence/judging.h"
#include "store/judging/judging_file.h"

#include <QWidget>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

class QCheckBox;
class QComboBox;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QToolButton;

class QTabWidget;

namespace orrery::ui {
class AccuracyPlot;
class CellsTable;
class Label;
class MethodMatrixView;
class GrowthPlot;
class ResidualPlot;
class RowChips;
}  // namespace orrery::ui

namespace orrery::app {

class Background;
class RowDetailView;

class AccuracyTab : public QWidget {
    Q_OBJECT
public:
    explicit AccuracyTab(ReferenceShelf* shelf, QWidget* parent = nullptr);
    /// What learned methods are asked with; null: what ships.
    void setCalibrations(std::shared_ptr<const CalibrationSet> calibrations);
    /// Who is judged beside all methods: fillings of methods that the project names (`recorded(trace=…)`).
    void setChoices(std::function<QStringList()> choices) { choices_ = std::move(choices); }
    void judge();
    /// As soon as the references that ship are read, and without what a file said.
    void judgeOnceRead();
    /// The picture (SVG, PDF, PNG), the rows (CSV), all figures (JSON), the table (TeX): by the file's ending. Returns
    /// an error text; there is nothing to write before methods were judged.
    QString exportTo(const QString& file);
    /// What is asked and shown, as its file says it: rows, chips, methods, terms, results of others.
    JudgingQuestion question() const;
    /// Asks what a file says, of the references that it names and of no others, as the command line does; those that do
    /// not ship are opened beside it. `file` stands in the head until somebody leaves it.
    void ask(const JudgingQuestion& question, const QString& file);
    /// Back to what stands here without a file: all references that are open, all methods, no results of others.
    void leaveFile();
    /// Another tool's results beside the methods; what cannot be read is said where the page says how it goes.
    void importResults(const QString& file);
    void removeResults();
    /// question() with the hash of its rows. Returns an error text.
    QString saveTo(const QString& file);
    /// Every figure and table of the page, and the pictures as PDF, into a folder that is there; pageWritten() ends it.
    void writePage(const QString& folder);
    /// The same into a folder that is there, at once and without PDF; the files. Nothing before methods were judged.
    Expected<QStringList> writeReport(const QString& folder) const;
    /// Only rows of which `facet` is `word` count, and a judgement's are listed: what a mark of the survey stands for.
    void narrowTo(Facet facet, const std::string& word, int judgement);
    const std::vector<Judgement>& judgements() const { return judged_; }
    bool isJudging() const;
    /// Nothing until the last judging has ended.
    const std::optional<Compared>& compared() const { return compared_; }
    /// While methods are asked: cells of those that have answered.
    const std::optional<MethodMatrix>& soFar() const { return soFar_; }
    const Comparing& comparing() const { return how_; }
    /// What learned methods are asked with; never null.
    const CalibrationSet& calibrations() const;
    const std::shared_ptr<const CalibrationSet>& ownCalibrations() const { return calibrations_; }  ///< null: shipped
    /// The rows that every method was asked about.
    const std::vector<RowRef>& asked() const { return asked_; }
    /// The tables that the judgements speak of.
    const ReferenceTablesPtr& tables() const { return tables_; }

signals:
    void judged();
    void exportRequested();
    void importRequested();
    void saveRequested();
    /// The row that is looked at, as the window's question under two methods.
    void drawingRequested(const orrery::Scenario& question, const QStringList& methods);
    void refused(const orrery::Diagnostic& why);
    void pageWritten(const QString& folder, const QString& problem);

private:
    QWidget* buildHead();
    QWidget* buildChips();
    void take(std::size_t at, Judgement judgement);
    void compare();
    void fillMethodsMenu();
    /// At once, or as soon as the shelf has read what it reads.
    void whenRead(const std::function<void()>& then);
    /// What is asked is what the file said that was opened.
    bool isAsOpened(const JudgingQuestion& question) const;
    /// Those of the shelf, as a file would name them: what ships first.
    ReferenceTablesPtr tablesOfShelf() const;
    std::vector<std::string> referencesOfShelf() const;
    void showFile();
    void turnFacet(const QString& group, const QString& word, bool on);
    void focusOn(int judgement, int column);
    void askRow(std::size_t place);
    void drawRow();
    void showPublished();
    void showChips();
    void showMatrix();
    void showMethods();
    void showPlane();
    void inTurn(std::function<void()> then);  ///< when the window has taken its events, unless more is asked by then
    void showMethod(int at);
    /// Where one column of the matrix was clicked, why `judgement` has no rows in it; empty where it may have some.
    QString whyNoRows(int judgement) const;
    void showResiduals();
    void showGrowth();
    void showProgress();
    /// Rows of the shown method that count, and on common rows only those, in the order of the evaluation.
    std::vector<std::size_t> shownPlaces() const;

    ReferenceShelf* shelf_;
    Background* work_;
    Background* writing_;
    std::shared_ptr<FactFinder> facts_ = std::make_shared<FactFinder>();
    std::optional<JudgingQuestion> opened_;  ///< what a file asks; then its references and methods alone
    QString openedFile_;
    std::vector<std::string> results_;  ///< files of other tools' results
    QString complaint_;                 ///< why the last judging or file of results came to nothing, until the next one
    std::shared_ptr<const CalibrationSet> calibrations_;
    std::function<QStringList()> choices_;
    ReferenceTablesPtr tables_;
    std::vector<Judgement> judged_;
    std::vector<RowRef> asked_;
    Comparing how_;
    std::optional<Compared> compared_;
    std::optional<MethodMatrix> soFar_;                  ///< until all are compared
    int turn_ = 0;                                       ///< of inTurn()
    bool judging_ = false, stale_ = false;               ///< methods are being asked; chips were clicked meanwhile
    struct Plane;
    std::shared_ptr<Plane> plane_;                       ///< what the plot shows next; null when it shows it
    std::vector<int> pointed_;                           ///< which judgement each point of the plot is
    std::vector<std::size_t> worstRows_, residualRows_;  ///< rows of the shown evaluation, as they are listed and drawn
    int shown_ = -1, focused_ = -1;  ///< of the judgements: whose rows are listed, whose cell of the matrix is ringed
    int focusedColumn_ = -1;         ///< of that cell

    QLineEdit* where_;
    QSpinBox* most_;
    QPushButton* run_;
    QToolButton* chosen_;
    QPushButton *import_, *export_, *save_;
    QToolButton* from_;
    QCheckBox *common_, *equal_;
    QComboBox *against_, *by_;
    QTabWidget* below_;
    QCheckBox *setUp_, *published_;
    RowDetailView* row_;
    ui::RowChips* chips_;
    ui::MethodMatrixView* matrix_;
    ui::Label* state_;
    ui::AccuracyPlot* plot_;
    ui::ResidualPlot* residuals_;
    ui::GrowthPlot* growth_;
    ui::CellsTable *methods_, *families_, *worst_;
};

}  // namespace orrery::app
